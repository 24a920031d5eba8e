import { isSessionId, type SessionId } from '../../model/index.js'
import { parseJsonPath, valueAt } from '../json-path.js'
import { type Capture, SESSION_PLACEHOLDER } from '../run/tool-runner.js'

/** The id in what a capturing run printed: one JSON document, or lines of which the last that has it counts. */
export function capturedSession({ jsonPath }: Capture, printed: string): SessionId | undefined {
  const whole = idAt(printed, jsonPath)
  if (whole) return whole
  for (const line of printed.split('\n').reverse()) {
    const id = line.trim().startsWith('{') || line.trim().startsWith('[') ? idAt(line, jsonPath) : undefined
    if (id) return id
  }
  return undefined
}

/** What to run once the id is known. */
export function resumeCaptured(
  { resume: [program, ...rest] }: Capture,
  session: SessionId,
): readonly [string, ...string[]] {
  return [program, ...rest.map((word) => (word === SESSION_PLACEHOLDER ? session : word))]
}

function idAt(text: string, path: string): SessionId | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const id = valueAt(value, parseJsonPath(path) ?? [])
  return isSessionId(id) ? id : undefined
}
