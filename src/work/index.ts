export { openWork } from './open-work.js'
export type { Health, Hooked, Inbox, NewMail, NewWork, WorkAgent, WorkFilter, WorkProvider } from './work-provider.js'
