/** Whose logs we read, by name: to check a configuration without the readers. */
export const LOG_TOOL_NAMES: readonly string[] = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'pi',
  'qwen',
  'openclaw',
  'plain',
]
