import { formatDuration, msOf } from '../../model/index.js'
import type { AgentCheckpoint } from '../../operations/index.js'
import { safe } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

const FILES = 10

/** How far an agent came, one fact per line. */
export function checkpointView({ agent, checkpoint }: AgentCheckpoint, { nowMs }: Screen): string {
  const {
    timestamp,
    modified_files: files = [],
    current_step,
    step_title,
    molecule_id,
    hooked_bead,
    notes,
  } = checkpoint
  const step = [current_step, step_title, molecule_id && `of ${molecule_id}`].filter(Boolean).join(' ')
  const code = [checkpoint.branch, checkpoint.last_commit?.slice(0, 12)].filter(Boolean).join(' ')
  const more = files.length > FILES ? `, and ${files.length - FILES} more` : ''
  return [
    safe`${agent}: ${formatDuration(nowMs - msOf(timestamp))} ago${checkpoint.session_id ? ` in ${checkpoint.session_id}` : ''}`,
    ...(step ? [safe`  step ${step}`] : []),
    ...(hooked_bead ? [safe`  work ${hooked_bead}`] : []),
    ...(code ? [safe`  code ${code}`] : []),
    ...(files.length > 0 ? [safe`  changed ${files.slice(0, FILES).join(', ')}${more}`] : []),
    ...(notes ? [safe`  notes ${notes}`] : []),
  ].join('\n')
}
