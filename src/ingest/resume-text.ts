import type { Checkpoint } from '../tools/index.js'

const texts = new WeakMap<Checkpoint, string>()

/** Where to go on from, as it is stored. Both stores ask for it, and some tools' places are a page of JSON. */
export function resumeText(checkpoint: Checkpoint): string {
  let text = texts.get(checkpoint)
  if (text === undefined) {
    text = JSON.stringify(checkpoint.resume)
    texts.set(checkpoint, text)
  }
  return text
}
