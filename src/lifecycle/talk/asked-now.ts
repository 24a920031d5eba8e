import { keptWords } from '../../home/index.js'
import type { Ask } from '../../model/index.js'
import type { ScreenReading } from '../../tools/index.js'
import type { AgentRun, LiveRun } from '../agent-run.js'
import { nowOf, type Parts } from '../parts.js'
import type { Verdict } from '../status/decide-status.js'
import { asksOf, dialogPrint } from './asks.js'

/** A verdict with everything that the agent asks, and the run with what was learned of its requests. */
export async function askedNow(
  parts: Parts,
  run: AgentRun,
  live: LiveRun,
  verdict: Verdict,
  reading: ScreenReading | undefined,
): Promise<{ run: AgentRun; verdict: Verdict }> {
  if (verdict.isPassing) return { run, verdict }
  const dialog = reading?.dialog
  const [askBefore] = run.status.asks ?? []
  const asked = asksOf({
    agent: run.agent,
    run: live.id,
    now: nowOf(parts),
    status: verdict.status,
    requests: run.requests ?? [],
    dialog,
    before: run.dialog !== undefined && askBefore ? { dialog: run.dialog, ask: askBefore } : undefined,
  })
  const { requests: _requests, dialog: _dialog, ...rest } = run
  const next: AgentRun = {
    ...rest,
    ...(asked.requests.length > 0 ? { requests: asked.requests } : {}),
    ...(dialog ? { dialog: dialogPrint(dialog) } : {}),
  }
  const asks = await Promise.all(asked.asks.map((ask) => storableAsk(parts, ask, run.status.asks)))
  const [first] = asks
  const status = first ? { ...verdict.status, token: first.token, asks } : verdict.status
  return { run: next, verdict: { ...verdict, status } }
}

/** What a screen shows may hold a secret. One that is known already has been through the filter. */
async function storableAsk(parts: Parts, ask: Ask, known: readonly Ask[] = []): Promise<Ask> {
  const { what, options } = ask
  const before = known.find(({ token }) => token === ask.token)
  if (before && before.options?.length === options?.length) return { ...ask, ...wordsOf(before) }
  const words = {
    ...(what === undefined ? {} : { what }),
    ...Object.fromEntries((options ?? []).map(({ label }, at) => [`option ${at}`, label])),
  }
  const kept = await keptWords(words, parts.home)
  const { what: _what, ...rest } = ask
  return {
    ...rest,
    ...(kept.what === undefined ? {} : { what: kept.what }),
    ...(options
      ? { options: options.map(({ meaning }, at) => ({ label: kept[`option ${at}`] ?? '…', meaning })) }
      : {}),
  }
}

const wordsOf = ({ what, options }: Ask): Partial<Ask> => ({
  ...(what === undefined ? {} : { what }),
  ...(options ? { options } : {}),
})
