export type * from './api.js'
export type { Surroundings } from './history.js'
export { type HomeOptions, openHome } from './open-home.js'
export { createProfile, DEFAULT_PROFILE, deleteProfile, listProfiles } from './profiles.js'
