import { redactValue } from '../privacy/index.js'
import type { Resume } from '../tools/index.js'

/**
 * A place to go on from, without secrets. A reader that stopped in the middle of a turn remembers the beginning of the prompt and the
 * title; it tells them again from here, and redacting twice gives what redacting once gives.
 */
export function storablePlace(resume: Resume): Resume {
  const { place } = resume
  if (typeof place !== 'object' || place === null || !('state' in place)) return resume
  const state = redactValue(place.state, {})
  return state === place.state ? resume : { ...resume, place: { ...place, state } }
}
