// Over 400 lines: every operation on agents, a few lines each; what they do is in files of their own.
import { keptWords } from '../home/index.js'
import { type Agent, type AgentId, type Evidence, type Instant, SkeinError } from '../model/index.js'
import { attachArgv, attend } from '../terminal/index.js'
import { AgentCare } from './agent-care.js'
import { type AgentRun, liveRun } from './agent-run.js'
import { viewOf, viewsOf } from './agent-view.js'
import type {
  Agents,
  AgentView,
  DoneReceipt,
  Explanation,
  ForkReceipt,
  HandoffReceipt,
  HandoffRequest,
  Receipt,
  RecordedScreen,
  RecoveryReceipt,
  SendReceipt,
  SlingReceipt,
  SlingRequest,
  StartAgent,
  StartNow,
  UnpackReceipt,
} from './agents.js'
import type { CheckpointNotes } from './care/checkpoint.js'
import { findAgent } from './find-agent.js'
import type { Forked } from './fork/fork.js'
import type { ForkRequest } from './fork/fork-plan.js'
import type { Resurrection, ResurrectRequest } from './fork/resurrect.js'
import type { DoneOptions } from './handoff/done.js'
import type { PackReport, PackRequest } from './pack/pack.js'
import type { UnpackRequest } from './pack/unpack.js'
import { nowOf, type Parts, pause, runnerOf } from './parts.js'
import type { Recovered } from './recover/recover.js'
import { serverOf } from './run/run-life.js'
import { kill, type Stopped, stop } from './run/stop.js'
import { letGo } from './seance/medium.js'
import { activityOf, mergeTold } from './status/evidence.js'
import { type Observed, observe } from './status/observe.js'
import { observeTogether } from './status/observe-together.js'
import { refuseStranded } from './status/stranded.js'
import { explain } from './status/why.js'
import { type AnswerWith, answer } from './talk/answer.js'
import { type FirstPrompt, giveFirst, giveKept } from './talk/first-prompt.js'
import { gaveUp, type Patience } from './talk/gave-up.js'
import { outputOf } from './talk/output.js'
import { sendPending } from './talk/pending-prompt.js'
import { beforePrompt, outcomeOf } from './talk/reply.js'
import { notRunning, send } from './talk/send.js'

const LOOK_MS = 250

/**
 * Every operation on agents, each by its reference. What an operation takes is in a file of its own. What starts agents is loaded when it is
 * asked for: a list without a daemon needs none of it.
 */
export class RunningAgents implements Agents {
  readonly #care: AgentCare

  constructor(private readonly parts: Parts) {
    this.#care = new AgentCare(parts, (agent) => this.#look(agent))
  }

  async spawn(options: StartAgent): Promise<AgentView> {
    const { spawn } = await import('./run/start.js')
    const agent = await spawn(this.parts, options)
    return viewOf(this.parts, agent, await this.parts.runs.read(agent.id), undefined)
  }

  async start(options: StartNow): ReturnType<Agents['start']> {
    this.parts.terminals.warm(this.parts.socket)
    const { startAgent } = await import('./run/start.js')
    const { agent, observed, session, beacon } = await startAgent(this.parts, options)
    const how = aliveness(observed)
    const again = options.resume === undefined ? '' : `, resuming ${session}`
    const record = session && (await this.parts.home.sessions.get(session))
    const receipt = { agent: await this.#viewOf(observed), did: `started ${agent.address}${again}`, how }
    const first = [beacon, options.prompt].filter((text) => text !== undefined).join('\n\n')
    if (first !== '') {
      const isOver = observed.run?.run?.ended_at !== undefined
      const prompted = isOver
        ? 'it has ended, so it was given no prompt'
        : await this.#prompt(agent, beacon, options.prompt)
      const view = await this.#look(agent)
      return { ...receipt, agent: view, how: `${how}; ${prompted}`, ...(record ? { session: record } : {}) }
    }
    return { ...receipt, ...(record ? { session: record } : {}) }
  }

  async restart(
    reference: string,
    options: { fresh?: boolean; force?: boolean; env?: Readonly<Record<string, string>> } = {},
  ): ReturnType<Agents['restart']> {
    this.parts.terminals.warm(this.parts.socket)
    const agent = await findAgent(this.parts.home, reference)
    const { start } = await import('./run/start.js')
    const { planStart } = await import('./run/start-plan.js')
    const { refuseParked } = await import('./sling/admission.js')
    await refuseParked(this.parts.home, agent.address)
    const isFirst = (await this.parts.runs.read(agent.id)) === undefined
    const plan = isFirst ? { plan: await planStart(this.parts, { agent: agent.address }) } : {}
    const started = await start(this.parts, agent, { ...options, ...plan, replace: true })
    const { observed, tier, session, beacon } = started
    const again =
      session === undefined ? '' : observed.run?.run?.how === 'resume' ? `, resuming ${session}` : `, in ${session}`
    const did = `restarted ${agent.address} (${tier}${again})`
    const prompted = beacon === undefined ? '' : `; ${await this.#prompt(agent, beacon, undefined)}`
    return { agent: await this.#viewOf(observed), did, how: aliveness(observed) + prompted, tier }
  }

  async sling(request: SlingRequest): Promise<SlingReceipt> {
    this.parts.terminals.warm(this.parts.socket)
    const { sling } = await import('./sling/sling.js')
    const unmake = (agent: Agent): Promise<Receipt> => this.#care.remove(agent.id, { force: true })
    const { agent, work, worktree, isNew } = await sling(this.parts, request, unmake)
    const place = worktree ? { worktree: worktree.directory, branch: worktree.branch } : {}
    const did = `slung ${work.id} to ${agent.address}`
    const prompted = toldOf(await giveKept(this.parts, agent))
    const how = `${isNew ? 'a new agent' : 'it had nothing to do'}${worktree ? `; worktree ${worktree.how}` : ''}; ${prompted}`
    return { agent: await this.#look(agent), did, how, work, is_new: isNew, ...place }
  }

  async fork(request: ForkRequest): Promise<ForkReceipt[]> {
    this.parts.terminals.warm(this.parts.socket)
    const { fork } = await import('./fork/fork.js')
    const made = await fork(this.parts, request)
    return Promise.all(made.map((one) => this.#forked(one, request.prompt)))
  }

  async #forked(made: Forked, prompt: string | undefined): Promise<ForkReceipt> {
    const { agent, observed, source, turn, session, conversation, worktree, branch, included } = made
    const first = [conversation.context, prompt].filter((text) => text !== undefined && text !== '').join('\n\n')
    const prompted = first === '' ? '' : `; ${await this.#prompt(agent, undefined, first)}`
    const at = turn === undefined ? 'before its first turn' : `at turn ${turn}`
    return {
      agent: await this.#look(agent),
      did: `forked ${source} ${at} as ${agent.address}`,
      how: aliveness(observed) + prompted,
      ...(session ? { session } : {}),
      source_session_id: source,
      ...(turn === undefined ? {} : { turn }),
      conversation: conversation.how,
      turns: conversation.turns,
      left_out: conversation.left_out,
      cwd: made.cwd,
      ...(worktree ? { worktree } : {}),
      ...(branch ? { branch } : {}),
      missing: made.missing.map(({ path, reason }) => ({ path, reason })),
      ...(made.isExact === undefined ? {} : { is_exact: made.isExact }),
      late: made.late,
      included: included.files,
      not_included: included.left,
    }
  }

  async handoff(request: HandoffRequest): Promise<HandoffReceipt> {
    this.parts.terminals.warm(this.parts.socket)
    const { performHandoff } = await import('./handoff/perform-handoff.js')
    const { agent, ...handed } = await performHandoff(this.parts, request)
    return { agent: await this.#look(agent), ...handed }
  }

  async done(reference: string, options: DoneOptions = {}): Promise<DoneReceipt> {
    const agent = await findAgent(this.parts.home, reference)
    const { performDone } = await import('./handoff/perform-handoff.js')
    const done = await performDone(this.parts, agent, options)
    return { ...done, agent: await this.#look(agent) }
  }

  async stop(reference: string, options: { graceMs?: number } = {}): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    return this.#ended(agent, await stop(this.parts, agent, options), 'stopped')
  }

  async down(reference: string, options: { graceMs?: number } = {}): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    return this.#ended(
      agent,
      await stop(this.parts, agent, { ...options, isDown: true, because: 'by skein down; skein up starts it again' }),
      'stopped',
    )
  }

  async sleep(reference: string): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    const { putToSleep } = await import('./care/sleep.js')
    return this.#ended(agent, await putToSleep(this.parts, agent, 'by hand'), 'put to sleep')
  }

  async wake(reference: string): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    const { wake } = await import('./care/sleep.js')
    const how = await wake(this.parts, agent)
    const did = how === undefined ? `left ${agent.address} as it was` : `woke ${agent.address}`
    return { agent: await this.#look(agent), did, how: how ?? 'it was not asleep' }
  }

  async kill(reference: string): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    return this.#ended(agent, await kill(this.parts, agent), 'killed')
  }

  async talkSeance(
    reference: string,
    { prompt, tool, isNewest = false, ...limits }: Parameters<Agents['talkSeance']>[1],
  ): ReturnType<Agents['talkSeance']> {
    const [{ callUp, noReply, refuseStrayed }, { predecessor }] = await Promise.all([
      import('./seance/talk.js'),
      import('./seance/predecessor.js'),
    ])
    const session = await predecessor(this.parts.home, reference, { isNewest })
    const how = { isForOneQuestion: prompt !== undefined, ...limits, ...(tool === undefined ? {} : { tool }) }
    const { agent, asked_in, ...about } = await callUp(this.parts, session, how)
    if (prompt === undefined) return { session: session.id, ...about, agent: await this.#look(agent) }
    try {
      const {
        agent: view,
        reply,
        reason,
      } = await this.#ask(agent, prompt, limits).catch((error: unknown) => {
        throw error instanceof SkeinError ? noReply(session, error, limits) : error
      })
      refuseStrayed(session, asked_in, view.session_id)
      return {
        session: session.id,
        ...about,
        agent: view,
        ...(reply === undefined ? {} : { reply }),
        ...(reason ? { reason } : {}),
      }
    } finally {
      await letGo(this.parts, agent)
    }
  }

  async resurrect(reference: string, request: ResurrectRequest = {}): Promise<Resurrection> {
    const { resurrect } = await import('./fork/resurrect.js')
    return resurrect(this.parts, reference, request)
  }

  async pack(request: PackRequest): Promise<PackReport> {
    const { pack } = await import('./pack/pack.js')
    return pack(this.parts, request)
  }

  async unpack(request: UnpackRequest): Promise<UnpackReceipt> {
    const { unpack } = await import('./pack/unpack.js')
    const { agent, source, turn, how, tool, directory, branch, ...made } = await unpack(this.parts, request)
    return {
      agent: await this.#look(agent),
      did: `unpacked ${source} as ${agent.address}`,
      how: `${tool} resumes it when it is started`,
      ...made,
      source_session_id: source,
      ...(turn === undefined ? {} : { turn }),
      conversation: how,
      ...(directory === undefined ? {} : { directory }),
      ...(branch === undefined ? {} : { branch }),
    }
  }

  /** As soon as it listens: a program that has just been started may still be drawing. */
  async #ask(agent: Agent, prompt: string, limits: { timeoutMs: number; signal?: AbortSignal }): Promise<SendReceipt> {
    await this.wait(agent.id, { until: 'idle', ...limits })
    return this.send(agent.id, prompt, { wait: true, ...limits })
  }

  async writeCheckpoint(reference: string, given: CheckpointNotes): ReturnType<Agents['writeCheckpoint']> {
    const agent = await findAgent(this.parts.home, reference)
    const { writeCheckpoint } = await import('./care/checkpoint.js')
    return { agent: agent.address, checkpoint: await writeCheckpoint(this.parts, agent, given) }
  }

  async readCheckpoint(reference: string): ReturnType<Agents['readCheckpoint']> {
    const agent = await findAgent(this.parts.home, reference)
    const { run } = await this.parts.runs.found(agent.id)
    const { checkpointFor } = await import('./care/checkpoint.js')
    const checkpoint = checkpointFor(this.parts, agent, run?.recipe.cwd ?? agent.project_path)
    return checkpoint && { agent: agent.address, checkpoint }
  }

  async clearCheckpoint(reference: string): ReturnType<Agents['clearCheckpoint']> {
    const agent = await findAgent(this.parts.home, reference)
    const { clearCheckpoint } = await import('./care/checkpoint.js')
    return { agent: agent.address, cleared: await clearCheckpoint(this.parts, agent) }
  }

  async recover({
    agents = [],
    group,
    tell,
    ...options
  }: Parameters<Agents['recover']>[0]): ReturnType<Agents['recover']> {
    const { roster } = this.parts.home
    const { recover } = await import('./recover/recover.js')
    const { parkedAround, refuseParked } = await import('./sling/admission.js')
    const named = await Promise.all(agents.map((reference) => findAgent(this.parts.home, reference)))
    const within = group === undefined ? undefined : await roster.agents({ group })
    const isWithin = (id: AgentId): boolean => within === undefined || within.some((agent) => agent.id === id)
    const groups = await roster.groups()
    for (const agent of named) await refuseParked(this.parts.home, agent.address)
    const receiptOf = async ({ observed, ...one }: Recovered): Promise<RecoveryReceipt> => {
      const seen = observed ?? (await observeTogether(this.parts, one.agent.id))
      if (!seen) throw new Error(`agent ${one.agent.id} vanished while it was brought back`)
      return { ...one, agent: await this.#viewOf(seen) }
    }
    const receipts: Promise<RecoveryReceipt>[] = []
    let told: Promise<unknown> = Promise.resolve()
    const only = agents.length > 0 ? new Set(named.map(({ id }) => id)) : undefined
    await recover(
      this.parts,
      {
        ...options,
        ...(only ? { only } : {}),
        isWanted: ({ id, address }) => isWithin(id) && !parkedAround(groups, address),
      },
      (one) => {
        const receipt = receiptOf(one)
        receipts.push(receipt)
        told = Promise.all([receipt, told]).then(([next]) => tell?.(next))
        told.catch(() => undefined) // reported below
      },
    )
    await told
    return Promise.all(receipts)
  }

  async send(
    reference: string,
    text: string,
    options: { wait?: boolean; timeoutMs?: number; replaceDraft?: boolean; signal?: AbortSignal } = {},
  ): Promise<SendReceipt> {
    const agent = await findAgent(this.parts.home, reference)
    if ((await this.parts.runs.read(agent.id))?.run?.is_asleep) await this.wake(agent.id)
    await sendPending(this.parts, agent) // in the order in which they were given
    const before = options.wait ? await beforePrompt(this.parts, await this.parts.runs.read(agent.id)) : undefined
    const sent = await send(this.parts, agent, text, options)
    const did = `sent ${Buffer.byteLength(text)} bytes to ${agent.address}`
    const receipt = { did, how: sent.how, delivery: sent.delivery }
    if (!before || sent.delivery === 'stalled') return { agent: await this.#look(agent), ...receipt }
    const outcome = await outcomeOf(this.parts, agent, { text, ...sent, before }, timed(options))
    return { agent: await this.#look(agent), ...receipt, ...outcome }
  }

  async wait(
    reference: string,
    { until, ...patience }: { until: 'waiting' | 'idle' | 'done' } & Patience,
  ): Promise<AgentView> {
    const agent = await findAgent(this.parts.home, reference)
    const { timeoutMs } = patience
    const end = timeoutMs === undefined ? undefined : performance.now() + timeoutMs
    for (;;) {
      const view = await this.#look(agent)
      if (view.pending_prompt_at === undefined) {
        if (isReached(view, until)) return view
      } else if (activityOf(view) === 'quiet') await this.#sendPending(agent)
      else if (activityOf(view) === 'blocked' && until !== 'idle') return view
      if (view.status === 'asleep') {
        const next = `Wake it: skein wake ${agent.address} , or send it something: skein send ${agent.address} <text>`
        throw new SkeinError('agent-not-running', `${agent.address} is ${view.reason ?? 'asleep'}`, next)
      }
      if (activityOf(view) === 'over' || (activityOf(view) === 'failed' && view.trouble === 'dead-pane')) {
        throw new SkeinError(
          'agent-died',
          `${agent.address} ended: ${view.reason ?? view.status}`,
          `See: skein why ${agent.address}`,
        )
      }
      if ((end !== undefined && performance.now() >= end) || patience.signal?.aborted)
        throw gaveUp(agent, view.status, patience)
      await pause(LOOK_MS, patience.signal)
    }
  }

  async keys(reference: string, keys: readonly string[]): Promise<Receipt> {
    const { agent, live } = await this.#running(reference)
    using _typing = await this.parts.runs.hold(agent.id, 'keys')
    const terminal = await this.parts.terminals.of(live.socket)
    await terminal.press(live.pane, keys)
    const did = `pressed ${keys.join(' ')} in ${agent.address}`
    return { agent: await this.#look(agent), did, how: `tmux accepted the keys for pane ${live.pane}` }
  }

  async answer(reference: string, wanted: AnswerWith, options: { token?: string } = {}): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    const { how, by } = await answer(this.parts, agent, wanted, options.token)
    const did = 'decision' in wanted ? `answered ${agent.address}: ${wanted.decision}` : `answered ${agent.address}`
    const sent = await this.#sendPending(agent)
    const rest = sent ? `; the kept prompt was sent (${sent.delivery})` : ''
    return {
      agent: await this.#look(agent),
      did,
      how: (by === 'protocol' ? `through its protocol: ${how}` : how) + rest,
    }
  }

  async output(reference: string, options: { screen?: boolean } = {}): ReturnType<Agents['output']> {
    const agent = await findAgent(this.parts.home, reference)
    const view = await this.#look(agent)
    return { agent: view, ...(await outputOf(this.parts, agent, await this.parts.runs.read(agent.id), options)) }
  }

  ack(reference: string): Promise<Receipt> {
    return this.#care.ack(reference)
  }

  snooze(reference: string, until: Instant): Promise<Receipt> {
    return this.#care.snooze(reference, until)
  }

  rename(reference: string, name: string): Promise<Receipt> {
    return this.#care.rename(reference, name)
  }

  move(reference: string, group: string | undefined): Promise<Receipt> {
    return this.#care.move(reference, group)
  }

  archive(reference: string): Promise<Receipt> {
    return this.#care.archive(reference)
  }

  unarchive(reference: string): Promise<Receipt> {
    return this.#care.unarchive(reference)
  }

  setTool(reference: string, tool: string): Promise<Receipt> {
    return this.#care.setTool(reference, tool)
  }

  async running(): Promise<Agent[]> {
    const seen = await observe(this.parts)
    return seen.flatMap(({ agent, run }) => (liveRun(run) ? [agent] : []))
  }

  remove(reference: string, options: { force?: boolean } = {}): Promise<Receipt> {
    return this.#care.remove(reference, options)
  }

  undoRemove(reference?: string): Promise<Receipt> {
    return this.#care.undoRemove(reference)
  }

  async find(reference: string): Promise<string | undefined> {
    try {
      return (await findAgent(this.parts.home, reference)).address
    } catch (error) {
      if (error instanceof SkeinError && error.code === 'agent-not-found') return undefined
      throw error
    }
  }

  async attachCommand(reference: string, inside: { tmux?: string }): Promise<readonly [string, ...string[]]> {
    const { agent, live } = await this.#running(reference)
    await refuseStranded(this.parts, agent, live)
    const { env } = this.parts.environment
    return attachArgv(live.socket, live.tmux_session, {
      ...(inside.tmux ? { insideTmux: inside.tmux } : {}),
      ...(env.TMUX_TMPDIR ? { socketDirectory: env.TMUX_TMPDIR } : {}),
    })
  }

  async attend(reference: string): Promise<Disposable> {
    const live = liveRun(await this.parts.runs.read((await findAgent(this.parts.home, reference)).id))
    const server = live && serverOf(live)
    return server ? attend(server) : { [Symbol.dispose]: () => undefined }
  }

  async list({ group, all = false }: { group?: string; all?: boolean } = {}): Promise<AgentView[]> {
    const agents = await this.parts.home.roster.agents(group === undefined ? {} : { group })
    const views = await viewsOf(this.parts, await observe(this.parts, new Set(agents.map(({ id }) => id))))
    return all ? views : views.filter(({ archived_at }) => archived_at === undefined)
  }

  async observe(agents?: readonly AgentId[]): Promise<AgentView[]> {
    return viewsOf(this.parts, await observe(this.parts, agents && new Set(agents)))
  }

  async why(reference: string): Promise<Explanation> {
    const observed = await this.#observed(await findAgent(this.parts.home, reference))
    return { agent: await this.#viewOf(observed), ...(await explain(this.parts, observed)) }
  }

  async report(reference: string, evidence: Omit<Evidence, 'at' | 'source'>): Promise<AgentView> {
    const agent = await findAgent(this.parts.home, reference)
    const { reason: said } = evidence
    const words = await keptWords(said === undefined ? {} : { reason: said }, this.parts.home)
    await this.parts.runs.update(agent, (current) => {
      if (!current) return undefined
      const told: Evidence = { ...evidence, ...words, source: 'report', at: nowOf(this.parts) }
      return { next: { ...current, told: mergeTold(current.told ?? [], [told]) }, isDurable: false, result: undefined }
    })
    if (!liveRun(await this.parts.runs.read(agent.id))) throw notRunning(agent)
    return this.#look(agent)
  }

  async record(reference: string): Promise<RecordedScreen> {
    const { agent, live, run } = await this.#running(reference)
    const terminal = await this.parts.terminals.of(live.socket)
    const [pane, screen] = await Promise.all([terminal.pane(live.pane), terminal.capture(live.pane)])
    const lines = screen.split('\n')
    const { title, width } = pane
    const reading = runnerOf(this.parts, run.recipe.tool).readScreen({ lines, title, width })
    return { agent: await this.#look(agent), tool: run.recipe.tool, width, title, lines, reading }
  }

  async runs(): Promise<AgentRun[]> {
    return this.parts.runs.all()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts.terminals[Symbol.asyncDispose]()
  }

  /** An agent that asks something first is given its prompt as soon as that is answered. The beacon of a successor is kept already. */
  async #prompt(agent: Agent, beacon: string | undefined, prompt: string | undefined): Promise<string> {
    const isKept = (await this.parts.runs.read(agent.id))?.pending_prompt !== undefined
    const text = [...(beacon === undefined || isKept ? [] : [beacon]), ...(prompt === undefined ? [] : [prompt])]
    return toldOf(
      await (text.length > 0 ? giveFirst(this.parts, agent, text.join('\n\n')) : giveKept(this.parts, agent)),
    )
  }

  /** Undefined also when it is not the time yet. */
  async #sendPending(agent: Agent): ReturnType<typeof sendPending> {
    try {
      return await sendPending(this.parts, agent)
    } catch (error) {
      if (error instanceof SkeinError && error.code === 'agent-not-ready') return undefined
      throw error
    }
  }

  async #running(reference: string) {
    const agent = await findAgent(this.parts.home, reference)
    await this.#observed(agent)
    const run = await this.parts.runs.read(agent.id)
    const live = liveRun(run)
    if (!run || !live) throw notRunning(agent)
    return { agent, run, live }
  }

  async #observed(agent: Agent): Promise<Observed> {
    const [observed] = await observe(this.parts, new Set([agent.id]))
    if (!observed) throw new Error(`agent ${agent.id} vanished while it was looked at`)
    return observed
  }

  async #viewOf(observed: Observed): Promise<AgentView> {
    const [view] = await viewsOf(this.parts, [observed])
    return view ?? viewOf(this.parts, observed.agent, observed.run, observed.verdict?.status)
  }

  async #look(agent: Agent): Promise<AgentView> {
    return this.#viewOf(await this.#observed(agent))
  }

  async #ended(agent: Agent, { wasRunning, how, left }: Stopped, verb: string): Promise<Receipt> {
    const rest = left.length === 0 ? '' : `; these processes did not exit: ${left.join(', ')}`
    const did = wasRunning ? `${verb} ${agent.address}` : `left ${agent.address} as it was`
    return { agent: await this.#look(agent), did, how: how + rest }
  }
}

function aliveness({ verdict, seen }: Observed): string {
  const process = seen.find(({ source }) => source === 'process')?.reason
  const decided = verdict?.decided
  const said = decided && decided.source !== 'process' ? `${decided.source} says ${decided.status}` : undefined
  return [process, said].filter((part) => part !== undefined).join('; ') || 'it lives'
}

function isReached(view: AgentView, until: 'waiting' | 'idle' | 'done'): boolean {
  const activity = activityOf(view)
  switch (until) {
    case 'waiting':
      return view.status === 'waiting'
    case 'idle':
      return activity === 'quiet'
    case 'done':
      return activity === 'quiet' || activity === 'blocked' || activity === 'failed'
  }
}

const timed = ({ timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal }) => ({
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...(signal ? { signal } : {}),
})

const toldOf = (first: FirstPrompt): string =>
  'sent' in first
    ? `prompt ${first.sent.delivery}: ${first.sent.how}`
    : `the prompt is kept and will be sent as soon as its program takes it: ${first.kept}`
