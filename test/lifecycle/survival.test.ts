import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BINARY } from '../cli/binary.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const pidOf = async ({ agents }: Workshop): Promise<number> => (await agents.runs())[0]?.run?.pid ?? 0
const serverPid = ({ tmux }: Workshop): number => Number(tmux('display-message', '-p', '#{pid}'))

describe('what is killed', () => {
  it('an agent that is killed while it works is said to be so, and its session has crashed', async () => {
    const shop = await workshop()
    const { agent } = await shop.agents.start({ agent: 'toast', cwd: shop.project })
    await shop.agents.send('toast', 'forever')
    process.kill(await pidOf(shop), 'SIGKILL')
    const [seen] = await eventually(
      () => shop.agents.list(),
      ([one]) => one?.status === 'error',
      2_000,
    )
    expect(seen).toMatchObject({ trouble: 'dead-pane', reason: 'killed by signal 9' })
    expect(await shop.home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'crash' })
    const again = await shop.agents.restart('toast')
    expect(again).toMatchObject({ tier: 'respawned', agent: { session_id: agent.session_id, status: 'idle' } })
  })

  it('a tmux server that is killed takes its agents along, and nothing of them is lost', async () => {
    const shop = await workshop()
    for (const agent of ['toast', 'butter']) await shop.agents.start({ agent, cwd: shop.project })
    await shop.agents.send('toast', 'forever')
    const before = await shop.agents.list()
    process.kill(serverPid(shop), 'SIGKILL')
    const after = await eventually(
      () => shop.agents.list(),
      (seen) => seen.every(({ status }) => status === 'error'),
      2_000,
    )
    expect(after.map(({ trouble }) => trouble)).toEqual(['tmux-gone', 'tmux-gone'])
    for (const { address, session_id } of before) {
      const again = await shop.agents.restart(address)
      expect(again).toMatchObject({ tier: 'recreated', agent: { session_id } })
    }
  })

  it('a tmux server that hangs is not taken for one that is gone', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project, tool: 'mute' })
    await new Promise((resolve) => setTimeout(resolve, 5_500)) // beyond the grace of a start
    await shop.agents.list()
    const pid = serverPid(shop)
    process.kill(pid, 'SIGSTOP')
    try {
      const [seen] = await shop.agents.list()
      expect(seen).toMatchObject({ status: 'unknown', reason: 'tmux did not answer; it was idle' })
      expect((await shop.agents.runs())[0]?.status.status).toBe('idle')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect((await shop.agents.list())[0]).toMatchObject({ status: 'idle' })
  })

  it('a pane whose maker was killed before it could say so is found by its mark', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    const [stored] = await shop.agents.runs()
    const file = join(shop.home.paths.agents, `${stored?.agent}.json`)
    const { pane: _pane, pid, process_start: _start, ...launching } = stored?.run ?? {}
    const { run: _run, told: _told, ...rest } = stored ?? {}
    writeFileSync(file, JSON.stringify({ ...rest, launching, status: { ...stored?.status, status: 'starting' } }))
    const [seen] = await shop.agents.list()
    expect(seen).toMatchObject({ status: 'idle', pane: stored?.run?.pane })
    expect((await shop.agents.runs())[0]).toMatchObject({ run: { pid, id: stored?.run?.id } })
    expect((await shop.agents.send('toast', 'hello')).delivery).toBe('received')
    expect(await shop.home.events.read({ type: 'agent_started' })).toHaveLength(1) // the journal had it
  })

  it.each([false, true])(
    'the start of a pane whose maker was killed is in the journal once, before its end (dead when it is found: %s)',
    async (isDead) => {
      const shop = await workshop()
      await shop.agents.start({ agent: 'toast', cwd: shop.project })
      const [stored] = await shop.agents.runs()
      const file = join(shop.home.paths.agents, `${stored?.agent}.json`)
      const { pane: _pane, pid = 0, process_start: _start, ...same } = stored?.run ?? {}
      const { run: _run, told: _told, ...rest } = stored ?? {}
      const launching = { ...same, id: 'unrecorded' }
      writeFileSync(file, JSON.stringify({ ...rest, launching, status: { ...stored?.status, status: 'starting' } }))
      if (isDead) process.kill(pid, 'SIGKILL')
      for (let looks = 0; looks < 3; looks += 1) await shop.agents.list()
      if (!isDead) process.kill(pid, 'SIGKILL')
      await eventually(
        () => shop.agents.list(),
        ([one]) => one?.status === 'error',
      )
      const told = await shop.home.events.read({ type: 'agent_*' })
      const own = told.filter(({ payload }) => {
        const run = payload.run as string | { id?: string } | undefined
        return (typeof run === 'object' ? run.id : run) === 'unrecorded'
      })
      expect(own.map(({ type }) => type)).toEqual(['agent_started', 'agent_stopped'])
      expect(await shop.home.events.read({ type: 'session_death' })).toHaveLength(1)
      expect(await shop.home.events.read({ type: 'spawn' })).toHaveLength(2)
    },
  )

  it('the end of the process before says nothing about one that is being started in its pane', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    const [stored] = await shop.agents.runs()
    process.kill(stored?.run?.pid ?? 0, 'SIGKILL')
    const panes = (): string => shop.tmux('list-panes', '-a', '-F', '#{@skein_agent} #{pane_dead}')
    const isDead = (): boolean => panes().includes(`${stored?.agent} 1`)
    await expect.poll(isDead, { timeout: 10_000 }).toBe(true)
    // As it is between the end of one process and the start of the next.
    const run = { ...stored?.run, ended_at: stored?.run?.started_at }
    const { pane: _pane, pid: _pid, process_start: _start, server: _server, ...same } = stored?.run ?? {}
    const launching = { ...same, id: 'the-next-run' }
    const status = { ...stored?.status, status: 'starting' }
    const file = join(shop.home.paths.agents, `${stored?.agent}.json`)
    writeFileSync(file, JSON.stringify({ ...stored, run, launching, status }))
    await shop.agents.list()
    const [seen] = await shop.agents.runs()
    expect(seen).toMatchObject({ launching: { id: 'the-next-run' }, run: { id: stored?.run?.id } })
    expect((await shop.agents.list())[0]?.reason ?? '').not.toContain('signal')
    expect((await shop.agents.restart('toast')).agent).toMatchObject({ status: 'idle' })
  })

  it('a start that is killed at any moment leaves one agent or none, and the next start works', async () => {
    const shop = await workshop()
    configureDemo(shop)
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: shop.root,
      SKEIN_HOME: shop.root,
      FAKE_LOG: join(shop.root, 'fake.log'),
    }
    const skein = (...args: string[]) =>
      spawnSync(process.execPath, [BINARY, ...args], { env, cwd: shop.project, encoding: 'utf8', timeout: 60_000 })
    for (const afterMs of [60, 110, 160, 210, 260, 400]) {
      const name = `a${afterMs}`
      const child = spawn(process.execPath, [BINARY, 'start', '.', '--agent', name, '--tool', 'demo'], {
        env,
        cwd: shop.project,
        stdio: 'ignore',
      })
      const ended = new Promise((resolve) => child.once('exit', resolve))
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      child.kill('SIGKILL')
      await ended
      const listed = skein('list', '--json')
      expect({ name, stderr: listed.stderr, status: listed.status }).toEqual({ name, stderr: '', status: 0 })
      const known = JSON.parse(listed.stdout).agents.some(({ address }: { address: string }) => address === name)
      const again = known
        ? skein('restart', name, '--json')
        : skein('start', '.', '--agent', name, '--tool', 'demo', '--json')
      expect({ name, stderr: again.stderr, status: again.status }).toEqual({ name, stderr: '', status: 0 })
      const marks = shop.tmux('list-panes', '-a', '-F', '#{@skein_agent} #{pane_dead}').trim().split('\n')
      const { id } = JSON.parse(again.stdout).agent
      expect(marks.filter((line) => line.startsWith(id))).toEqual([`${id} 0`])
    }
  })
})

function configureDemo({ root }: Workshop): void {
  const program = new URL('../workers/fake-agent.mjs', import.meta.url).pathname
  writeFileSync(
    join(root, 'config.toml'),
    `[tools.demo]\ncommand = "${process.execPath} ${program}"\nidle_patterns = ["re:^>"]\nbusy_patterns = ["WORKING"]\n[daemon]\nautostart = false\n`,
  )
}

describe('beside others', () => {
  it('another tmux server and what runs in it are untouched', async () => {
    const shop = await workshop()
    const other = join(shop.root, 'other.sock')
    const theirs = (...args: string[]) =>
      execFileSync('tmux', ['-S', other, '-f', '/dev/null', ...args], { encoding: 'utf8' })
    theirs('new-session', '-d', '-s', 'toast', 'sleep 600')
    const look = () =>
      theirs('list-panes', '-a', '-F', '#{session_name} #{pane_pid} #{pane_dead}') +
      theirs('show-options', '-g') +
      theirs('show-hooks', '-g')
    const before = look()
    try {
      await shop.agents.start({ agent: 'toast', cwd: shop.project })
      await shop.agents.send('toast', 'shell 300')
      await shop.agents.restart('toast')
      await shop.agents.stop('toast', { graceMs: 1_000 })
      await shop.agents.start({ agent: 'toast', cwd: shop.project })
      await shop.agents.kill('toast')
      expect(look()).toBe(before)
    } finally {
      theirs('kill-server')
    }
  })

  it('an agent that does not run costs no process to list', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    shop.tmux('kill-server')
    const [gone] = await eventually(
      () => shop.agents.list(),
      ([one]) => one?.reason === 'the tmux server is gone',
    )
    // Without a PATH no tmux is found, so any look for one would be told apart.
    const blind = await workshop({ root: shop.root, env: { PATH: '/nowhere' } })
    expect((await blind.agents.list())[0]).toEqual(gone)
    expect(blind.warnings).toEqual([])
  })

  it('no secret and no prompt is ever on a command line', async () => {
    const shop = await workshop()
    configureDemo(shop)
    const secret = 'sk-ant-oat01-Zm9vYmFyYmF6cXV4'
    writeFileSync(join(shop.root, 'secrets.env'), `API_KEY=${secret}\n`)
    writeFileSync(join(shop.root, 'prompt'), `the plan is ${secret}XYZ`)
    mkdirSync(join(shop.root, 'seen'))
    const skein = `"${process.execPath}" "${BINARY}"`
    // In a process namespace of its own, with a watcher that writes down every command line it can catch.
    const script = `
      cd "${shop.project}"
      node -e '
        const { readdirSync, readFileSync, appendFileSync } = require("fs")
        const seen = new Set()
        setInterval(() => {
          for (const pid of readdirSync("/proc")) {
            try { seen.add(readFileSync("/proc/" + pid + "/cmdline", "utf8").replaceAll("\\0", " ")) } catch {}
          }
        }, 2)
        process.on("SIGTERM", () => { appendFileSync("${shop.root}/seen/lines", [...seen].join("\\n")); process.exit(0) })
      ' &
      watcher=$!
      sleep 0.3
      ${skein} start . --agent toast --tool demo --env-file "${shop.root}/secrets.env"
      ${skein} send toast - <"${shop.root}/prompt"
      ${skein} restart toast
      ${skein} stop toast
      kill -TERM $watcher; wait $watcher
      "${'tmux'}" -S "${shop.socket}" kill-server 2>/dev/null
    `
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: shop.root,
      SKEIN_HOME: shop.root,
      FAKE_LOG: join(shop.root, 'fake.log'),
    }
    const ran = spawnSync('unshare', ['-rpf', '--mount-proc', 'sh', '-c', script], {
      env,
      encoding: 'utf8',
      timeout: 90_000,
    })
    expect(ran.stderr).toBe('')
    expect(ran.stdout).toMatch(/^Started toast: process \d+ runs/)
    const lines = readFileSync(join(shop.root, 'seen', 'lines'), 'utf8')
    expect(lines).toContain('fake-agent.mjs')
    expect(lines).not.toContain(secret.slice(0, 20))
    const told = shop
      .log()
      .map((entry) => JSON.stringify(entry))
      .join('\n')
    expect(told).toContain('the plan is')
  })
})
