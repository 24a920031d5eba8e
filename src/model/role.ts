/** A text with placeholders: `{prefix}-crew-{name}`. See `role-template.ts` for those that exist. */
export type Template = string

export const RESPAWNS = ['never', 'on-crash', 'always'] as const
export const HANDOFFS = ['respawn', 'done'] as const
export const PRECOMPACTS = ['auto', 'cycle', 'off'] as const

/** What a start does beside running the program. */
export interface RoleStart {
  /** Stay until the program is seen alive. */
  wait_for_agent: boolean
  /** A program that is not seen alive in time fails the start, which is then undone. */
  wait_fatal: boolean
  /** Answer the program's own startup dialogs (trust this directory, bypass permissions), and no others. */
  accept_startup_dialogs: boolean
  /** How long the program may take until it listens, before the beacon is given to it; 0 does not wait. */
  ready_delay_ms: number
  /** Whether it is started again when it ends, as `respawn` says; false is the same as `respawn = "never"`. */
  auto_respawn: boolean
  /** Keep the pane of a program that has ended, with its last lines. */
  remain_on_exit: boolean
  /** Record the process with its start time, so that only this process is ever signalled. */
  track_pid: boolean
  /** Look again at the end of the start whether the program still runs. */
  verify_survived: boolean
}

/** A template for agents: how they are named, where they work, how they are started, respawned and stopped. */
export interface Role {
  name: string
  session_name: Template
  address: Template
  mail_address: Template
  cwd?: Template
  respawn: (typeof RESPAWNS)[number]
  /** An agent with work on its hook that is silent for so long (`5m`) is nudged, then shown as stuck, then restarted; `0` is never. */
  stuck_after?: string
  /** An agent that is idle for so long (`2h`) is put to sleep; `0` is never. */
  hibernate_after?: string
  /** Agents with a lower number are stopped first. */
  shutdown_order: number
  /** `done`: an agent of this role ends with its work instead of handing off to a successor. */
  handoff: (typeof HANDOFFS)[number]
  /** What happens before the program compacts its context. */
  precompact: (typeof PRECOMPACTS)[number]
  /** What prime prints of the role: the text itself, or the path of a file (`/…`, `~/…`, `./…`). */
  context?: string
  /** What the agent is to do, printed by prime after the context. */
  instructions?: string
  tool?: string
  model?: string
  args?: string[]
  dangerous?: boolean
  /** Name of a theme for its tmux session. */
  theme?: string
  /** Whether the first prompt of a new conversation is the beacon. */
  beacon: boolean
  start: RoleStart
}

export const DEFAULT_START: RoleStart = {
  wait_for_agent: true,
  wait_fatal: true,
  accept_startup_dialogs: false,
  ready_delay_ms: 0,
  auto_respawn: true,
  remain_on_exit: true,
  track_pid: true,
  verify_survived: true,
}

/** A role of which nothing is said: its agents are named and started like any other. */
export const plainRole = (name: string): Role => ({
  name,
  session_name: '{address}',
  address: '{group}/{name}',
  mail_address: '{address}',
  respawn: 'never',
  shutdown_order: 0,
  handoff: 'respawn',
  precompact: 'auto',
  beacon: false,
  start: DEFAULT_START,
})

/** Which agent of a role: the group (Gas Town: the rig) and the name, where its templates have them. */
export interface RoleIdentity {
  role: string
  group?: string
  name?: string
}

/** Everything an identity is called. */
export interface RoleNames {
  session_name: string
  address: string
  mail_address: string
  /** Absent where the role has no working directory, or where its root is not set. */
  cwd?: string
}
