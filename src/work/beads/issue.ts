import {
  type AgentAddress,
  type AgentId,
  type GroupPath,
  type Instant,
  instantIfAny,
  isAgentId,
  isHooked,
  isSessionId,
  isWorkId,
  PRIORITIES,
  type Priority,
  SkeinError,
  USUAL_PRIORITY,
  WORK_STATUSES,
  type WorkStatus,
  type WorkUnit,
} from '../../model/index.js'

/** The most bytes of a title that `bd` takes. */
const MOST_TITLE = 500
const MOST_BODY = 256 * 1024
/** What `bd close` writes when nobody gave a reason. */
const NO_REASON = 'Closed'

/** What Skein knows about an issue and `bd` has no field for: texts, under these names in its metadata. */
export interface IssueNotes {
  /** The assignee whose id is in `skein_agent_id`: once somebody else is assigned, that id is nobody's. */
  skein_agent?: string
  skein_agent_id?: string
  skein_group?: string
  skein_molecule_id?: string
  skein_reason?: string
  /** The status that the reason was given for. */
  skein_reason_for?: string
  /** A title that was too long, whole. */
  skein_title?: string
}

/** An issue as `bd --json` prints it, and the unit it is to Skein. */
export interface Issue {
  unit: WorkUnit
  /** As stored, for preconditions. */
  status: string
  assignee: string
}

/** Reads what `bd` printed. `addressOf` says where an agent is now. */
export function issueOf(json: unknown, addressOf: (id: AgentId) => AgentAddress | undefined): Issue {
  const fields = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>
  const { id, priority, created_by } = fields
  const created_at = instantIn(fields.created_at)
  if (!isWorkId(id) || created_at === undefined) throw unreadable(id)
  const stored = textIn(fields.status) ?? 'open'
  const assignee = textIn(fields.assignee) ?? ''
  const notes = notesIn(fields.metadata)
  const status = statusOf(stored, assignee)
  const reason = reasonOf(stored, fields, notes)
  const isOwned = assignee !== '' && (isHooked({ status }) || status === 'done')
  const agent_id = notes.skein_agent === assignee && isAgentId(notes.skein_agent_id) ? notes.skein_agent_id : undefined
  const address = agent_id === undefined ? undefined : addressOf(agent_id)
  const body = textIn(fields.description)?.slice(0, MOST_BODY)
  const closed_at = status === 'done' ? instantIn(fields.closed_at) : undefined
  const session = textIn(fields.closed_by_session)
  const unit: WorkUnit = {
    id,
    title: titleOf(textIn(fields.title) ?? '', notes),
    ...(body ? { body } : {}),
    status,
    priority: PRIORITIES.includes(priority as Priority) ? (priority as Priority) : USUAL_PRIORITY,
    ...(isOwned ? { agent: address ?? (assignee as AgentAddress) } : {}),
    ...(isOwned && address !== undefined && agent_id ? { agent_id } : {}),
    ...(notes.skein_group === undefined ? {} : { group: notes.skein_group as GroupPath }),
    ...(notes.skein_molecule_id === undefined ? {} : { molecule_id: notes.skein_molecule_id }),
    ...(reason === undefined ? {} : { reason }),
    created_at,
    updated_at: instantIn(fields.updated_at) ?? created_at,
    created_by: textIn(created_by) ?? 'unknown',
    ...(closed_at === undefined ? {} : { closed_at }),
    ...(isSessionId(session) && status === 'done' ? { closed_by_session: session } : {}),
  }
  return { unit, status: stored, assignee }
}

/** A status of the user's own is on no hook, and nobody takes it by accident: it is blocked, and the reason says by what. */
function statusOf(stored: string, assignee: string): WorkStatus {
  if (stored === 'closed') return 'done'
  if (assignee === '' && isHooked({ status: stored as WorkStatus })) return 'open' // on nobody's hook
  return stored !== 'done' && WORK_STATUSES.includes(stored as WorkStatus) ? (stored as WorkStatus) : 'blocked'
}

export const storedStatus = (status: WorkStatus): string => (status === 'done' ? 'closed' : status)

function reasonOf(stored: string, fields: Record<string, unknown>, notes: IssueNotes): string | undefined {
  if (stored === 'closed') {
    const reason = textIn(fields.close_reason)?.trim()
    if (reason !== undefined && reason !== '' && reason !== NO_REASON) return reason
  }
  if (stored !== 'closed' && !WORK_STATUSES.includes(stored as WorkStatus))
    return `its status in beads is ${JSON.stringify(stored)}`
  return notes.skein_reason_for === stored ? notes.skein_reason : undefined
}

/** The title that `bd` takes, and a note of the whole one where it is longer. */
export function storedTitle(title: string): { title: string; notes: IssueNotes } {
  if (Buffer.byteLength(title) <= MOST_TITLE) return { title, notes: {} }
  let cut = ''
  for (const letter of title) {
    if (Buffer.byteLength(cut) + Buffer.byteLength(letter) > MOST_TITLE) break
    cut += letter
  }
  return { title: cut, notes: { skein_title: title } }
}

function titleOf(title: string, { skein_title }: IssueNotes): string {
  if (skein_title?.startsWith(title) && title !== '') return skein_title
  return title.replace(/\s+/g, ' ').trim()
}

function notesIn(metadata: unknown): IssueNotes {
  if (typeof metadata !== 'object' || metadata === null) return {}
  return Object.fromEntries(
    Object.entries(metadata).filter(([name, value]) => name.startsWith('skein_') && typeof value === 'string'),
  )
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const instantIn = (value: unknown): Instant | undefined =>
  typeof value === 'string' ? instantIfAny(Date.parse(value)) : undefined

const unreadable = (id: unknown): SkeinError =>
  new SkeinError(
    'work-provider',
    `bd printed an issue that cannot be read (id ${JSON.stringify(id)?.slice(0, 80)})`,
    'Look at it with bd show',
  )
