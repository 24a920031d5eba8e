export type { CaptureOptions, Key, NewPane, PaneEvent, PaneId, PaneInfo, Terminal, TmuxSocket } from './terminal.js'
