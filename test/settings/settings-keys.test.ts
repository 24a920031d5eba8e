import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { expect, it } from 'vitest'
import { settingsFlaws } from '../../src/settings/settings-keys.js'
import { BINARY, environmentIn, run } from '../cli/binary.js'
import { openTestHome, scratch } from '../home/scratch.js'

const flaws = (text: string): string[] => settingsFlaws(parse(text), text, 'config.toml')

it('a setting that there is not is named with its line and with what there is', () => {
  expect(flaws('default_tool = "claude"\n\n[daemon]\nautostrat = false\n')).toEqual([
    'config.toml:4: daemon.autostrat is not a setting; known: autostart, ingest',
  ])
  expect(flaws('\n[deamon]\nautostart = false\n')).toEqual([
    expect.stringMatching(
      /^config\.toml:2: deamon is not a setting; known: default_tool, accounts, archive, conversations, daemon, /,
    ),
  ])
  expect(flaws('constructor = 1\n')).toEqual([expect.stringContaining('config.toml:1: constructor is not a setting')])
})

it('a key that there is not is named in the tables whose names the user chooses, too', () => {
  const text = `[groups."web/api"]
max_runing = 4
[roles.reviewer]
precompct = "off"
[roles.reviewer.start]
wait = true
[accounts.work]
config = "~/.claude-work"
[themes.mine]
colour = "red"
[prices."x*"]
inputs = 1
`
  expect(flaws(text)).toEqual([
    'config.toml:2: groups.web/api.max_runing is not a setting; known: max_running, repository, snapshots',
    expect.stringMatching(
      /^config\.toml:4: roles\.reviewer\.precompct is not a setting; known: session_name, .*, precompact,/,
    ),
    expect.stringMatching(/^config\.toml:6: roles\.reviewer\.start\.wait is not a setting; known: wait_for_agent,/),
    'config.toml:8: accounts.work.config is not a setting; known: config_dir, tool',
    'config.toml:10: themes.mine.colour is not a setting; known: bg, fg, label, groups',
    expect.stringMatching(/^config\.toml:12: prices\.x\*\.inputs is not a setting; known: input, output,/),
  ])
})

it('a value of the wrong kind is named in the tables whose names the user chooses, too', () => {
  const text = `[groups]
web = 4
[groups.api]
max_running = "four"
snapshots = "no"
[hibernate.agents]
"web/night" = true
[watchdog.agents]
web = "nevr"
[events.ttl]
mail = 3
[logs]
claude = "/srv/logs"
`
  expect(flaws(text)).toEqual([
    'config.toml:2: groups.web is not a table',
    'config.toml:4: groups.api.max_running is not a whole number',
    'config.toml:5: groups.api.snapshots is not true or false',
    'config.toml:7: hibernate.agents.web/night is not a duration such as "7d"',
    'config.toml:9: watchdog.agents.web is not one of never, on-crash, always',
    'config.toml:11: events.ttl.mail is not a duration such as "7d"',
    'config.toml:13: logs.claude is not a list',
  ])
})

it('a setting of the wrong kind is named with its line and with what it may be', () => {
  const text = '# mine\n[events]\nmin_retain = "many"\n"default_ttl" = true\n[archive]\nmax_age = 365\n'
  expect(flaws(text)).toEqual([
    'config.toml:3: events.min_retain is not a whole number',
    'config.toml:4: events.default_ttl is not a duration such as "7d"',
    'config.toml:6: archive.max_age is not a duration such as "7d"',
  ])
  expect(flaws('tmux = "skein"\n')).toEqual(['config.toml:1: tmux is not a table'])
  expect(flaws('daemon.autostart = 1\n')).toEqual(['config.toml:1: daemon.autostart is not true or false'])
})

it('nothing is said of a file in which all is well', () => {
  const text = `default_tool = "claude"
[events]
default_ttl = "30d"
min_retain = 10
prune_interval = "1h"
[events.ttl]
"patrol_*" = "1d"
[sessions]
archive_after_days = 3
[archive]
max_age = "1y"
max_size = "2GB"
[logs]
claude = ["/srv/logs"]
[tools.mine]
command = "mine"
[prices."x*"]
input = 1
output = 2
[daemon]
autostart = true
ingest = false
[notify]
on = ["waiting"]
by = ["tmux"]
command = ["ntfy"]
quiet_hours = "22:00-07:30"
[[notify.rules]]
by = []
[tmux]
socket = "skein"
[groups."web/api"]
max_running = 4
repository = "/srv/web"
snapshots = false
[roles]
preset = "gastown"
root = "~/gt"
[roles.prefixes]
gastown = "gt"
[roles.reviewer]
precompact = "cycle"
start = { ready_delay_ms = 2000 }
[accounts.work]
config_dir = "~/.claude-work"
[themes.mine]
bg = "blue"
[hibernate.agents]
web = 0
[watchdog.agents]
"web/night" = "on-crash"
`
  expect(flaws(text)).toEqual([])
})

it('a home warns once of what is wrong in its settings, and works', async () => {
  const root = scratch()
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'config.toml'), '[evnets]\nmin_retain = 3\n')
  const { home, warnings } = await openTestHome(root)
  await home.history.ingest()
  await home.history.cost({ by: 'day' })
  expect(warnings.filter((line) => line.includes('evnets'))).toHaveLength(1)
  expect(warnings[0]).toContain(`${join(root, 'config.toml')}:1: evnets is not a setting`)
  await home[Symbol.asyncDispose]()
})

it('skein doctor names a setting that there is not', async () => {
  const root = scratch()
  const env = environmentIn(root, { SKEIN_HOME: root })
  writeFileSync(join(root, 'config.toml'), '[groups.web]\nmax_runing = 3\n')
  const { stdout, stderr, exitCode } = await run(process.execPath, [BINARY, 'doctor'], { env })
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('The index is correct') })
  expect(stderr).toContain(`${join(root, 'config.toml')}:2: groups.web.max_runing is not a setting`)
})
