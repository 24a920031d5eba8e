import { execFile } from 'node:child_process'
import type { Notice } from './attention.js'
import type { NotifySettings, Way } from './notify-settings.js'

/** A notifier that hangs is given up. */
const PATIENCE_MS = 10_000

/** How one way of telling went. */
export interface Delivery {
  readonly way: Way
  /** What was in the way; absent when it was delivered. */
  readonly failed?: string
}

export interface Outlets {
  readonly platform: string
  /** What programs are started with. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Shows a line in the tmux clients that are attached to our server; rejects when there is no server. */
  announce(text: string, options: { bell: boolean }): Promise<void>
}

/** Tells one notice in each of these ways. Programs get the text as an argument, a variable or on standard input, never through a shell. */
export async function deliver(
  notice: Notice,
  ways: readonly Way[],
  { command }: Pick<NotifySettings, 'command'>,
  outlets: Outlets,
): Promise<Delivery[]> {
  const line = notice.body === '' ? notice.title : `${notice.title}: ${notice.body}`
  const by: Readonly<Record<Way, () => Promise<void>>> = {
    desktop: () => toDesktop(notice, outlets),
    tmux: () => outlets.announce(line, { bell: ways.includes('bell') }),
    // Together with a line in tmux it rings there already.
    bell: () => (ways.includes('tmux') ? Promise.resolve() : outlets.announce('', { bell: true })),
    command: () => toCommand(notice, line, command, outlets),
  }
  return Promise.all(
    ways.map(async (way): Promise<Delivery> => {
      try {
        await by[way]()
        return { way }
      } catch (error) {
        return { way, failed: error instanceof Error ? error.message : String(error) }
      }
    }),
  )
}

function toDesktop({ title, body, kind }: Notice, { platform, env }: Outlets): Promise<void> {
  if (platform === 'darwin') {
    const script = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run']
    return run(['osascript', ...script.flatMap((line) => ['-e', line]), '--', title, body], { env })
  }
  const urgency = kind === 'finished' ? 'low' : 'normal'
  return run(['notify-send', '--app-name=Skein', `--urgency=${urgency}`, '--', title, asMarkup(body)], { env })
}

/** Desktops read the body as markup; the title they do not. */
const asMarkup = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function toCommand(notice: Notice, line: string, command: NotifySettings['command'], outlets: Outlets): Promise<void> {
  if (!command) return Promise.reject(new Error('no notify.command is set'))
  const { kind, agent, since, title, body, asks = [] } = notice
  return run(command, {
    env: {
      ...outlets.env,
      SKEIN_NOTICE: line,
      SKEIN_NOTICE_KIND: kind,
      SKEIN_NOTICE_AGENT: agent,
      SKEIN_NOTICE_TITLE: title,
      SKEIN_NOTICE_BODY: body,
    },
    input: `${JSON.stringify({ kind, agent, since, title, body, asks })}\n`,
  })
}

function run(
  [program, ...args]: readonly [string, ...string[]],
  { env, input = '' }: { env: Outlets['env']; input?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { timeout: PATIENCE_MS, maxBuffer: 64 * 1024, env: { ...env } },
      (error, _, stderr) => {
        if (!error) resolve()
        else if ((error as NodeJS.ErrnoException).code === 'ENOENT') reject(new Error(`${program} is not installed`))
        else reject(new Error(`${program}: ${stderr.trim().split('\n')[0] || error.message.split('\n')[0]}`))
      },
    )
    child.stdin?.on('error', () => {}) // it need not read what it is given
    child.stdin?.end(input)
  })
}
