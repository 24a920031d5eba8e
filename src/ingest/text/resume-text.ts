import type { Resume } from '../../tools/index.js'

const texts = new WeakMap<Resume, string>()

/** Where to go on from, as it is stored. Several stores ask for it, and some tools' places are a page of JSON. */
export function resumeText(resume: Resume): string {
  let text = texts.get(resume)
  if (text === undefined) {
    text = JSON.stringify(resume)
    texts.set(resume, text)
  }
  return text
}
