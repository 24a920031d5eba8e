/** The text that replaces something that was purged. */
export const PURGED = '[PURGED]'
/** The same where only letters may stand: in the address of an agent, the path of a group. */
const PURGED_NAME = 'PURGED'
export const PURGED_MARKS = /\[PURGED\]|PURGED/g

const ADDRESSES = new Set(['address', 'agent', 'group', 'group_path', 'move_to', 'rig', 'tmux_session', 'to'])
export const markFor = (name: string): string => (ADDRESSES.has(name) ? PURGED_NAME : PURGED)

/** Names of fields that hold ids, times and words of ours. */
const STRUCTURAL =
  /^(?:id|v|ts|type|kind|session|visibility|link|outcome|through|sha256|uuid|timestamp|call|by|mark|at|mail|status|reply_to|read_by)$|(?:_at|_id|_ref|_session|Id|At|Uuid)$/
/** An id or a time, as opposed to words that somebody chose. */
const PLAIN = /^[A-Za-z0-9_.:+-]{1,64}$/

/** Whether a value holds its record together: without it the record would be read wrongly, or not at all. */
export const isStructural = (name: string, value: string): boolean => STRUCTURAL.test(name) && PLAIN.test(value)

/** Names that our own records give their fields: purging one would make every record unreadable. */
const OURS = new Set(
  (
    'id ts type actor session agent payload visibility host v through title log_title tool cwd branch model role topic sender rig source reason outcome link ' +
    'started_at ended_at resumed_at completed_at created_at updated_at chain_id parent_id child_id agent_id forked_from turn turns steps ' +
    'step_ref molecule_id work_unit tmux_session commits success address name path group group_path order expanded agents groups from to ' +
    'move_to command project_path loaded_mcp_names rules tools count run text kind message content sessionId entry resume place offset ' +
    'state news counters head arguments result call purged prompt unit mail record items entries subject body status priority sent_at thread_id ' +
    'reply_to from_session for_session read_at read_by is_hooked created_by closed_at closed_by_session from_agent_id to_agent_id'
  ).split(' '),
)
export const isOurName = (name: string): boolean => OURS.has(name)
