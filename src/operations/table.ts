import type { Fields, Given } from './field.js'
import type { Operation } from './operation.js'

/** Every operation by its name. Each is loaded when it is asked for. */
export const OPERATIONS = {
  'agents.list': async () => (await import('./agents/list.js')).agentsList,
  'agents.send': async () => (await import('./agents/send.js')).agentsSend,
  'agents.status': async () => (await import('./agents/look.js')).agentsStatus,
  'agents.next': async () => (await import('./agents/look.js')).agentsNext,
  'agents.show': async () => (await import('./agents/roster.js')).agentsShow,
  'agents.why': async () => (await import('./agents/look.js')).agentsWhy,
  'agents.output': async () => (await import('./agents/look.js')).agentsOutput,
  'agents.attach': async () => (await import('./agents/look.js')).agentsAttach,
  'agents.wait': async () => (await import('./agents/many.js')).agentsWait,
  'agents.spawn': async () => (await import('./agents/spawn.js')).agentsSpawn,
  'agents.add': async () => (await import('./agents/roster.js')).agentsAdd,
  'agents.set': async () => (await import('./agents/roster.js')).agentsSet,
  'agents.set-parent': async () => (await import('./agents/roster.js')).agentsSetParent,
  'agents.rename': async () => (await import('./agents/care.js')).agentsRename,
  'agents.move': async () => (await import('./agents/care.js')).agentsMove,
  'agents.archive': async () => (await import('./agents/care.js')).agentsArchive,
  'agents.unarchive': async () => (await import('./agents/care.js')).agentsUnarchive,
  'agents.remove': async () => (await import('./agents/care.js')).agentsRemove,
  'agents.stop': async () => (await import('./agents/many.js')).agentsStop,
  'agents.kill': async () => (await import('./agents/many.js')).agentsKill,
  'agents.recover': async () => (await import('./agents/recover.js')).agentsRecover,
  'agents.ack': async () => (await import('./agents/many.js')).agentsAck,
  'agents.snooze': async () => (await import('./agents/care.js')).agentsSnooze,
  'agents.keys': async () => (await import('./agents/keys.js')).agentsKeys,
  'agents.report': async () => (await import('./agents/look.js')).agentsReport,
  'agents.record': async () => (await import('./agents/record.js')).agentsRecord,
  'agents.answer': async () => (await import('./agents/answer.js')).agentsAnswer,
  list: async () => (await import('./list.js')).list,
  'sessions.list': async () => (await import('./sessions/list.js')).sessionsList,
  'sessions.find': async () => (await import('./sessions/find.js')).sessionsFind,
  'sessions.chain': async () => (await import('./sessions/chain.js')).sessionsChain,
  'sessions.tree': async () => (await import('./sessions/tree.js')).sessionsTree,
  'sessions.show': async () => (await import('./sessions/show.js')).sessionsShow,
  'session.start': async () => (await import('./session/record.js')).sessionStart,
  'session.end': async () => (await import('./session/record.js')).sessionEnd,
  'session.handoff': async () => (await import('./session/record.js')).sessionHandoff,
  'session.step': async () => (await import('./session/record.js')).sessionStep,
  'session.update': async () => (await import('./session/record.js')).sessionUpdate,
  'group.list': async () => (await import('./groups/groups.js')).groupList,
  'group.create': async () => (await import('./groups/groups.js')).groupCreate,
  'group.rename': async () => (await import('./groups/groups.js')).groupRename,
  'group.set': async () => (await import('./groups/groups.js')).groupSet,
  'group.delete': async () => (await import('./groups/groups.js')).groupDelete,
  'events.tail': async () => (await import('./events/events.js')).eventsTail,
  'events.feed': async () => (await import('./events/events.js')).eventsFeed,
  'events.stats': async () => (await import('./events/events.js')).eventsStats,
  'events.decay': async () => (await import('./events/events.js')).eventsDecay,
  'events.prune': async () => (await import('./events/events.js')).eventsPrune,
  'events.config': async () => (await import('./events/events.js')).eventsConfig,
  'events.append': async () => (await import('./events/events.js')).eventsAppend,
  turns: async () => (await import('./history/turns.js')).turns,
  tools: async () => (await import('./history/turns.js')).tools,
  search: async () => (await import('./history/search.js')).search,
  export: async () => (await import('./history/export.js')).exportSessions,
  ingest: async () => (await import('./history/ingest.js')).ingest,
  'archive.list': async () => (await import('./upkeep/archive.js')).archiveList,
  'archive.restore': async () => (await import('./upkeep/archive.js')).archiveRestore,
  'archive.stats': async () => (await import('./upkeep/archive.js')).archiveStats,
  'archive.verify': async () => (await import('./upkeep/archive.js')).archiveVerify,
  'archive.prune': async () => (await import('./upkeep/archive.js')).archivePrune,
  'index.check': async () => (await import('./upkeep/index-care.js')).indexCheck,
  'index.rebuild': async () => (await import('./upkeep/index-care.js')).indexRebuild,
  'privacy.check': async () => (await import('./upkeep/privacy.js')).privacyCheck,
  'privacy.test': async () => (await import('./upkeep/privacy.js')).privacyTest,
  'privacy.apply': async () => (await import('./upkeep/privacy.js')).privacyApply,
  'privacy.audit': async () => (await import('./upkeep/privacy.js')).privacyAudit,
  purge: async () => (await import('./upkeep/privacy.js')).purge,
  'role.list': async () => (await import('./role/roles.js')).roleList,
  'role.show': async () => (await import('./role/roles.js')).roleShow,
  'tool.list': async () => (await import('./tool/tools.js')).toolList,
  'tool.show': async () => (await import('./tool/tools.js')).toolShow,
  'tool.test': async () => (await import('./tool/tools.js')).toolTest,
  'profile.list': async () => (await import('./upkeep/profiles.js')).profileList,
  'profile.create': async () => (await import('./upkeep/profiles.js')).profileCreate,
  'conversations.list': async () => (await import('./conversations/read.js')).conversationsList,
  'conversations.show': async () => (await import('./conversations/read.js')).conversationsShow,
  'conversations.policy': async () => (await import('./conversations/read.js')).conversationsPolicy,
  'conversations.set': async () => (await import('./conversations/change.js')).conversationsSet,
  'conversations.remove': async () => (await import('./conversations/change.js')).conversationsRemove,
  'conversations.reset': async () => (await import('./conversations/change.js')).conversationsReset,
  'conversations.prune': async () => (await import('./conversations/change.js')).conversationsPrune,
  'conversations.import': async () => (await import('./conversations/change.js')).conversationsImport,
  'conversations.export': async () => (await import('./conversations/change.js')).conversationsExport,
  cost: async () => (await import('./history/cost.js')).cost,
} as const satisfies Readonly<Record<string, () => Promise<unknown>>>

export type OperationName = keyof typeof OPERATIONS
export type OperationNamed<Name extends OperationName> = Awaited<ReturnType<(typeof OPERATIONS)[Name]>>

/** What an operation is given, and what it answers with. */
export type InputOf<Name extends OperationName> =
  OperationNamed<Name> extends Operation<infer Declared, object> ? Given<Declared> : never
export type ResultOf<Name extends OperationName> =
  OperationNamed<Name> extends Operation<Fields, infer Result> ? Result : never

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[]

export const isOperationName = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name)

/** For faces that treat all operations alike. */
export const loadOperation = async (name: OperationName): Promise<Operation> =>
  (await OPERATIONS[name]()) as unknown as Operation
