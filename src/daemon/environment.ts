/**
 * What a daemon inherits from the shell that happened to start it: paths, the user, and how to reach the desktop.
 * Everything else stays behind: keys and tokens have no business in a process that lives for weeks, and the variables of the agent or tmux
 * pane it was started from would be wrong for all others.
 */
const TAKEN = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TMUX_TMPDIR',
  'SKEIN_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  // Where the tools keep their logs and registries.
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'GEMINI_CLI_HOME',
  'OPENCLAW_STATE_DIR',
  'OPENCODE_DB',
  'PI_CODING_AGENT_DIR',
  'QWEN_HOME',
  'QWEN_RUNTIME_DIR',
])

export function daemonEnvironment(from: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const taken = Object.entries(from).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && (TAKEN.has(entry[0]) || entry[0].startsWith('LC_')),
  )
  return Object.fromEntries(taken)
}
