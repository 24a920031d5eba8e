import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** What has to be typed before an example that talks of agents which are running, or were removed. */
export function preludeOf(line: string): string[] {
  if (line.startsWith('skein start web/demo')) return ['skein spawn . --agent web/demo --tool demo']
  if (line.includes('--group lab')) return ['skein spawn . --agent lab/demo --tool demo']
  if (/^skein (stop|restart|wait) --group web/.test(line)) return ['skein start . --agent web/demo --tool demo']
  if (line.startsWith('skein checkpoint read')) return ['skein checkpoint write --agent web/toast']
  // The directory that it was recorded in is not there.
  if (line.startsWith('skein fork')) return ['skein session update 22222222 --cwd /tmp']
  if (line.startsWith('skein unpack')) return ['skein pack 22222222 --chat-only -o session.skein']
  if (line.startsWith('skein budget clear'))
    return ['skein start . --agent web/demo --tool demo', 'skein budget set web/demo --hard 5usd']
  if (line.startsWith('skein remove --undo')) return ['skein remove web/jam']
  if (/^skein (up|down)\b/.test(line))
    return ['skein start . --agent web/demo --tool demo', ...(line.startsWith('skein up') ? ['skein down'] : [])]
  if (line.startsWith('skein checkpoint read')) return ['skein checkpoint write --agent web/toast']
  if (line.includes('web/asker')) return ['skein start . --agent web/asker --tool demo --arg=--dialog']
  if (line.includes('web/demo') && !line.startsWith('skein start'))
    return ['skein start . --agent web/demo --tool demo']
  return []
}

/**
 * It needs a program that has, or had, a conversation on this machine: tried with real programs, in `e2e`. Or code that was captured where it
 * is: see `blame.test.ts`. Or a program that can resume: see `hibernate.test.ts`.
 */
export const needsProgram = (line: string): boolean =>
  /^skein (?:seance talk|resurrect|blame|explain|bisect|sleep|wake|sessions list --touching)\b/.test(line)

/** Help starts programs that users have. They are not installed where tests run, so another one takes their place. */
export const runnable = (line: string): string =>
  needsProgram(line)
    ? 'skein seance read 22222222'
    : /^skein (?:start|fork) /.test(line)
      ? line.replace('--tool claude', '--tool demo')
      : line

/** Ends the tmux server of a home that a test has used, with what runs in it. */
export function endAgents(home: string): void {
  spawnSync('tmux', ['-S', join(home, 'tmux.sock'), 'kill-server'])
}
