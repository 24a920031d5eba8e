import type { AgentView, Receipt } from '../../lifecycle/index.js'
import { formatDuration, msOf, SkeinError, shownReason } from '../../model/index.js'
import { doEach, type Failure, type Job } from '../../operations/index.js'
import type { Cli } from '../command.js'
import { errorLine } from '../report-error.js'
import { safe } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { receiptView } from './receipt-view.js'

/** What was done for several agents, and what failed, one line each. */
export interface Done<One> {
  readonly done: readonly One[]
  readonly failures?: readonly Failure[] | undefined
}

/** One line per agent; errors on stderr. `nothing` is said when there was none to do anything for. */
export function showEach<One>(
  { done, failures = [] }: Done<One>,
  line: (one: One) => string,
  { out }: Cli,
  nothing: string,
): void {
  for (const one of done) out.text(line(one))
  for (const { error } of failures) {
    const { code, message, next, details = [] } = error
    out.note(errorLine(new SkeinError(code, message, next, { details })))
  }
  if (done.length + failures.length === 0) out.note(nothing)
}

/** Does jobs of this command alone, with one line each as it is done. */
export async function answerWithReceipts<One extends Receipt>(
  jobs: readonly Job<One>[],
  cli: Cli,
  nothing: string,
): Promise<void> {
  const { out } = cli
  const listener = {
    done: (one: One) => out.text(receiptView(one)),
    failed: (error: SkeinError) => out.note(errorLine(error)),
  }
  const { done: receipts, failures } = await doEach(jobs, out.json ? {} : { listener })
  if (failures) out.fails()
  if (out.json) out.result({ receipts, ...(failures ? { failures } : {}) }, () => '')
  else if (jobs.length === 0) out.note(nothing)
}

/** What an agent does, since when and why. */
export function agentLine(agent: AgentView, { nowMs }: Screen): string {
  const { address, since, status, waiting_for, source } = agent
  const age = formatDuration(nowMs - msOf(since))
  return safe`${address} is ${status} for ${age}: ${shownReason(agent) ?? waiting_for ?? source}`
}
