import { parseSessionId, readJson, SkeinError, shapes } from '../../model/index.js'
import { optional, required } from '../field.js'
import { freeText, text } from '../kind.js'
import { operation } from '../operation.js'
import { usageError } from '../usage-error.js'

/** So much of a result is looked at. */
const RESULT_CHARS = 20_000

export const sessionLogTool = operation({
  name: 'session.log-tool',
  does: 'acts',
  where: 'either',
  summary: 'Record a tool call that a hook reports',
  description:
    "Reads the message of a PostToolUse hook, filters it by the privacy policy and writes one event. skein tools shows it until the session's log has the call, and for good where there is no log: after a crash, in a container. A session that is not known yet is recorded.",
  input: {
    session: required(text('id'), 'The session that made the call'),
    tool: optional(text('tool'), 'The tool that was called (default: as the message names it)'),
    message: required(freeText('json'), "The hook's message: tool_name, tool_input, tool_response, tool_use_id"),
  },
  result: 'event',
  async run({ session, tool, message }, { home }) {
    const { call, cwd } = callOf(message, tool)
    const { sessions, history } = await home()
    const id = parseSessionId(session)
    if (!(await sessions.get(id))) await sessions.start({ id, source: 'log', mayExist: true, ...(cwd ? { cwd } : {}) })
    return history.logTool(id, call)
  },
})

function callOf(message: string, tool: string | undefined) {
  const value = readJson(message)
  if (!shapes.isObject(value)) {
    throw new SkeinError(
      'bad-input',
      'The message of the hook is no JSON object',
      'Pass it on standard input, as the program gave it',
    )
  }
  const { tool_name, tool_input, tool_response, tool_use_id, hook_event_name, cwd } = value
  const name = tool ?? tool_name
  if (typeof name !== 'string' || name === '') throw usageError('The message names no tool', 'Name it with --tool')
  const isFailed =
    hook_event_name === 'PostToolUseFailure' || (shapes.isObject(tool_response) && tool_response.is_error === true)
  return {
    call: {
      id:
        typeof tool_use_id === 'string' && tool_use_id !== ''
          ? tool_use_id.slice(0, 200)
          : `hook-${crypto.randomUUID()}`,
      name: name.slice(0, 200),
      arguments: shapes.isObject(tool_input) ? tool_input : {},
      ...(tool_response === undefined ? {} : { result: resultOf(tool_response) }),
      success: !isFailed,
    },
    cwd: typeof cwd === 'string' && shapes.path(cwd) ? cwd : undefined,
  }
}

const resultOf = (response: unknown): string =>
  (typeof response === 'string' ? response : JSON.stringify(response)).slice(0, RESULT_CHARS)
