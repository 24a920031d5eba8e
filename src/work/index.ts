export { openWork } from './open-work.js'
export { knownUnits } from './work-errors.js'
export type { Health, Hooked, Inbox, NewMail, NewWork, WorkAgent, WorkFilter, WorkProvider } from './work-provider.js'
