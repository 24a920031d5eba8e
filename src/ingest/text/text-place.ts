import { hash } from 'node:crypto'
import type { ReadingEnd } from '../turns/log-rows.js'
import { resumeText } from './resume-text.js'

/** A place in a log is a page of JSON for some tools; only whether two are the same matters here. */
export const placeOf = (resume: string | null | undefined): string | null =>
  resume ? hash('sha1', resume, 'base64').slice(0, 16) : null

export const placeAfter = (end: ReadingEnd | undefined): string | null => placeOf(end?.resume && resumeText(end.resume))
