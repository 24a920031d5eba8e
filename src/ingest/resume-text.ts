import type { Resume } from '../tools/index.js'

interface Resumable {
  resume?: Resume | undefined
}

const texts = new WeakMap<Resumable, string>()

/** Where to go on from, as it is stored. Both stores ask for it, and some tools' places are a page of JSON. */
export function resumeText(checkpoint: Resumable): string {
  let text = texts.get(checkpoint)
  if (text === undefined) {
    text = JSON.stringify(checkpoint.resume)
    texts.set(checkpoint, text)
  }
  return text
}
