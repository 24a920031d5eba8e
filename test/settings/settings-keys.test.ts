import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { expect, it } from 'vitest'
import { settingsFlaws } from '../../src/settings/settings-keys.js'
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
