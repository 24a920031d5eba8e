import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { GASTOWN } from '../../src/model/index.js'
import { profilesUnder } from '../cli/world.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skein-roles-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

async function roles(toml?: string) {
  if (toml !== undefined) writeFileSync(join(root, 'config.toml'), toml)
  await using home = await profilesUnder(root).open('default')
  return await home.programs.roles()
}

it('without settings there are no roles', async () => {
  expect((await roles()).list).toEqual([])
  expect((await roles('[logs]\n')).list).toEqual([])
})

it("the preset brings Gas Town's roles, and a table changes one of them in part", async () => {
  const town = await roles(
    '[roles]\npreset = "gastown"\nroot = "/town"\nprefixes = { gastown = "gt" }\n[roles.crew]\nmodel = "opus"\nprecompact = "cycle"\n[roles.crew.start]\nready_delay_ms = 500\n',
  )
  expect(town.list.map(({ name }) => name)).toEqual(GASTOWN.map(({ name }) => name))
  expect(town.find('crew')).toMatchObject({
    session_name: '{prefix}-crew-{name}',
    model: 'opus',
    precompact: 'cycle',
    start: { ready_delay_ms: 500, accept_startup_dialogs: true },
  })
  expect(town.format({ role: 'crew', group: 'gastown', name: 'max' }).session_name).toBe('gt-crew-max')
  expect(town.find('polecat')?.handoff).toBe('done')
})

it('a role of ones own has everything that a role can say', async () => {
  const own = await roles(`
[roles.reviewer]
session_name = "rev-{name}"
address = "{group}/reviews/{name}"
mail_address = "{address}"
cwd = "/srv/{group}/{name}"
respawn = "on-crash"
shutdown_order = -3
handoff = "done"
precompact = "off"
context = "./reviewer.md"
instructions = "Review."
tool = "codex"
model = "o9"
args = ["--fast"]
dangerous = true
theme = "ocean"
beacon = true
[roles.reviewer.start]
wait_for_agent = false
wait_fatal = false
accept_startup_dialogs = true
ready_delay_ms = 0
auto_respawn = true
remain_on_exit = false
track_pid = false
verify_survived = false
`)
  expect(own.find('reviewer')).toEqual({
    name: 'reviewer',
    session_name: 'rev-{name}',
    address: '{group}/reviews/{name}',
    mail_address: '{address}',
    cwd: '/srv/{group}/{name}',
    respawn: 'on-crash',
    shutdown_order: -3,
    handoff: 'done',
    precompact: 'off',
    context: './reviewer.md',
    instructions: 'Review.',
    tool: 'codex',
    model: 'o9',
    args: ['--fast'],
    dangerous: true,
    theme: 'ocean',
    beacon: true,
    start: {
      wait_for_agent: false,
      wait_fatal: false,
      accept_startup_dialogs: true,
      ready_delay_ms: 0,
      auto_respawn: true,
      remain_on_exit: false,
      track_pid: false,
      verify_survived: false,
    },
  })
})

it.each([
  ['roles = 3', 'roles in .* is not a table'],
  ['[roles]\npreset = "gastwon"', 'roles.preset in .* is "gastwon"'],
  ['[roles]\nroot = "town"', 'roles.root in .* is not an absolute path'],
  ['[roles]\ncrew = "x"', 'roles.crew in .* is not a table'],
  ['[roles.Crew]\n', 'roles.Crew in .* is not a name for a role'],
  ['[roles.crew]\nrespwan = "never"', 'roles.crew.respwan in .* is not a known key'],
  ['[roles.crew]\nrespawn = "sometimes"', 'roles.crew.respawn in .* is "sometimes"'],
  ['[roles.crew]\nshutdown_order = 1.5', 'roles.crew.shutdown_order in .* is not a whole number'],
  ['[roles.crew]\nargs = "x"', 'roles.crew.args in .* is not a list'],
  ['[roles.crew]\nargs = [1]', 'roles.crew.args\\[0\\] in .* is empty or not a string'],
  ['[roles.crew]\ndangerous = "yes"', 'roles.crew.dangerous in .* is neither true nor false'],
  ['[roles.crew]\naddress = "{grop}/x"', 'roles.crew.address in .*\\{grop\\} is not one of'],
  ['[roles.crew]\naddress = "{root}/x"', 'roles.crew.address in .*\\{root\\} is not one of'],
  ['[roles.crew]\nsession_name = "{name"', 'roles.crew.session_name in .*a brace without its partner'],
  ['[roles.crew]\nsession_name = "{group}{name}"', 'roles.crew.session_name in .*two placeholders touch'],
  ['[roles.crew]\nsession_name = "{name}-{name}"', 'roles.crew.session_name in .*a placeholder twice'],
  ['[roles.crew]\ncwd = "here/{name}"', 'roles.crew.cwd in .* is not an absolute path'],
  ['[roles.crew.start]\nwait = true', 'roles.crew.start.wait in .* is not a known key'],
  ['[roles.crew.start]\nready_delay_ms = -1', 'roles.crew.start.ready_delay_ms in .* is not a whole number'],
  ['[roles.crew.start]\nwait_fatal = 1', 'roles.crew.start.wait_fatal in .* is neither true nor false'],
  ['[roles.prefixes]\ngastown = ""', 'roles.prefixes.gastown in .* is empty'],
  ['[roles.prefixes]\ngastown = "g t"', 'roles.prefixes.gastown in .* is "g t"'],
  ['[roles.prefixes]\na = "gt"\nb = "GT"', 'roles.prefixes.b in .* is also the prefix of a'],
])('a mistake is named: %s', async (toml, message) => {
  await expect(roles(toml)).rejects.toThrow(new RegExp(`^${message}`))
  await expect(roles(toml)).rejects.toMatchObject({ code: 'bad-config' })
})

async function accounts(toml: string) {
  writeFileSync(join(root, 'config.toml'), toml)
  await using home = await profilesUnder(root).open('default')
  return await home.programs.environment()
}

it('an account is a directory of a tool, and its logs are looked for there', async () => {
  const found = await accounts(
    '[logs]\nclaude = ["/srv/logs"]\n[accounts.work]\nconfig_dir = "/srv/claude-work"\n[accounts.g]\nconfig_dir = "/srv/g"\ntool = "gemini"\n',
  )
  expect(found.accounts).toEqual({
    work: { tool: 'claude', directory: '/srv/claude-work', logs: '/srv/claude-work' },
    g: { tool: 'gemini', directory: '/srv/g', logs: '/srv/g/.gemini' },
  })
  expect(found.extraRoots).toEqual({ claude: ['/srv/logs', '/srv/claude-work'], gemini: ['/srv/g/.gemini'] })
})

it.each([
  ['[accounts.work]\n', 'accounts.work.config_dir in .* is missing'],
  ['[accounts.work]\nconfig_dir = "x"', 'accounts.work.config_dir in .* is not an absolute path'],
  ['[accounts.work]\nconfig_dir = "/x"\ntool = "vim"', 'accounts.work.tool in .* is "vim"'],
  ['[accounts.work]\nconfigdir = "/x"', 'accounts.work.configdir in .* is not a known key'],
  ['[themes.x]\nbg = "red"', 'themes.x.fg in .* is missing'],
  ['[themes.x]\nbg = "red,fg=#(id)"\nfg = "red"', 'themes.x.bg in .* is not a colour'],
  ['[roles.crew]\ntheme = "nothing"', 'roles.crew.theme in .* is "nothing"'],
])('a mistake about accounts or themes is named: %s', async (toml, message) => {
  const asked = toml.includes('accounts') ? accounts(toml) : roles(toml)
  await expect(asked).rejects.toThrow(new RegExp(`^${message}`))
})
