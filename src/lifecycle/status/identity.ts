import type { AgentId, Instant, SessionId } from '../../model/index.js'
import type { AgentReport } from '../../tools/index.js'
import type { AgentRun, Binding, LiveRun } from '../agent-run.js'

/** Somebody says which conversation an agent is in. */
export interface Claim {
  session: SessionId
  how: NonNullable<AgentReport['identity']>['how'] | 'registry'
  log?: string
  at: Instant
  /** The run it says it speaks for. */
  run: string
  /** The process that said it, where that is known. */
  pid?: number
}

export interface Claimed {
  agent: AgentId
  address: string
  since: Instant
}

/** What the system knows about who made the claim. */
export interface Witness {
  /** Whether the process descends from the one the agent was started as; undefined when it is gone already. */
  isInTree?: boolean | undefined
  /** The agent that this conversation already belongs to, if another. */
  other?: Claimed | undefined
}

export type IdentityVerdict =
  | { kind: 'same'; binding: Binding; programPid?: number }
  | { kind: 'bind' | 'rebind'; binding: Binding; from?: SessionId; programPid?: number }
  | { kind: 'refuse'; because: string; isForeign: boolean }

/**
 * Whether a claim about an agent's conversation is believed. The conversation is what is resumed after a crash and what its
 * user reads, so it changes only by the word of the agent's own program: not by that of a program the agent has started
 * (`claude -p` in a shell), nor of a run that is over.
 */
export function judgeIdentity(
  run: LiveRun,
  binding: Binding | undefined,
  claim: Claim,
  witness: Witness,
): IdentityVerdict {
  const foreign = (because: string): IdentityVerdict => ({ kind: 'refuse', because, isForeign: true })
  const refuse = (because: string): IdentityVerdict => ({ kind: 'refuse', because, isForeign: false })
  if (claim.run !== run.id) return foreign('it belongs to a run that has ended')
  if (claim.pid !== undefined && witness.isInTree === false) {
    return foreign(`process ${claim.pid} does not belong to this agent`)
  }
  if (claim.session === binding?.session) {
    const log = claim.log ?? binding.log
    return {
      kind: 'same',
      binding: { ...binding, is_confirmed: true, ...(log ? { log } : {}) },
      ...programOf(run, claim),
    }
  }
  const isOwn = claim.pid === undefined || claim.pid === run.pid || claim.pid === run.program_pid
  if (binding?.is_confirmed && !isOwn)
    return foreign(`process ${claim.pid} is a child of the agent, not the agent itself`)
  if (witness.other) {
    const { address, since } = witness.other
    if (since <= (binding?.since ?? claim.at)) return refuse(`it is already the conversation of ${address}`)
  }
  const isItself = claim.pid !== undefined && isOwn
  const how = howOf(run, binding, claim, isItself)
  if (how === undefined) {
    const asked = run.how === 'resume' && claim.how === 'startup'
    return refuse(
      asked
        ? 'it was started to resume another conversation and did not'
        : 'nothing shows that it left its conversation',
    )
  }
  const next: Binding = {
    session: claim.session,
    since: claim.at,
    how,
    is_confirmed: true,
    ...(claim.log ? { log: claim.log } : {}),
  }
  if (!binding) return { kind: 'bind', binding: next, ...programOf(run, claim) }
  return { kind: 'rebind', binding: next, from: binding.session, ...programOf(run, claim) }
}

/** How it came into this conversation; undefined when it cannot have left the one it was in. */
function howOf(
  run: LiveRun,
  binding: Binding | undefined,
  { how }: Claim,
  isItself: boolean,
): Binding['how'] | undefined {
  switch (how) {
    case 'clear':
    case 'resume':
    case 'compact':
    case 'fork':
      return how
    case 'registry':
      return 'captured' // the program's own file about this very process: whatever it is in, it says so
    case 'startup':
      // A resume that failed must not lose what was to be resumed. A program that took no chosen id has lost nothing.
      if (!binding) return 'startup'
      // It was in one: the same process began another (Codex says no more of its /new).
      if (binding.is_confirmed) return isItself ? 'clear' : undefined
      return run.how === 'resume' ? undefined : 'captured'
    case 'prompted':
      // Its user chose another one in the program itself. Before it has confirmed any, that may be one it began instead.
      if (binding?.is_confirmed) return isItself ? 'resume' : undefined
      return binding ? undefined : 'captured'
    case 'unchanged':
      return binding ? undefined : 'captured'
  }
}

/** Some programs start themselves again: who speaks first for the chosen conversation is the program, from then on. */
const programOf = (run: LiveRun, { pid }: Claim): { programPid?: number } =>
  pid === undefined || pid === run.pid || run.program_pid !== undefined ? {} : { programPid: pid }

/** Keeps the last few, so that each is told once. */
export function withRefused(run: AgentRun, session: SessionId): SessionId[] {
  return [...(run.refused ?? []).filter((one) => one !== session), session].slice(-20)
}
