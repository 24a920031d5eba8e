// Loads the chunks of a bundle with what V8 made of them at the build (`scripts/code-cache.mjs`): parsing is a sixth of a short command.
// A chunk's name has a hash of its content, so a file of an older build fits none. V8 refuses what another version or other flags made;
// then, and for every other file, Node loads as usual.
const { openSync, readFileSync, readSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')
const Module = require('node:module')

/** The file beside a bundle: the length of a JSON list of [chunk, offset, length], that list, and the data. */
const packOf = (bundle) => join(bundle, `code-${process.versions.v8}-${process.arch}.bin`)

/** Gives what was made of a chunk, by its path; nothing when the bundle was built by another version of Node. */
function openPack(bundle) {
  try {
    const pack = openSync(packOf(bundle))
    const start = 4 + read(pack, 0, 4).readUInt32LE(0)
    const list = JSON.parse(read(pack, 4, start - 4).toString())
    const places = new Map(list.map(([name, at, length]) => [join(bundle, 'chunks', name), [start + at, length]]))
    return (path) => (places.has(path) ? read(pack, ...places.get(path)) : undefined)
  } catch {
    return undefined
  }
}

/** Nothing where the file was cut off. */
function read(file, at, length) {
  const bytes = Buffer.allocUnsafeSlow(length)
  return readSync(file, bytes, 0, length, at) === length ? bytes : undefined
}

/** From here on, `require` loads the chunks of this bundle from its pack. */
function loadWithCode(bundle) {
  const codeOf = openPack(bundle)
  if (!codeOf) return
  const load = Module._extensions['.js']
  Module._extensions['.cjs'] = (module, path) => {
    const cachedData = codeOf(path)
    if (cachedData) compile(module, path, cachedData)
    else load(module, path)
  }
}

/** What Node does for a CommonJS module, of which our bundles use no more than this. */
function compile(module, path, cachedData) {
  const script = new Script(Module.wrap(readFileSync(path, 'utf8')), { filename: path, cachedData })
  const run = script.runInThisContext()
  run.call(module.exports, module.exports, (name) => module.require(name), module, path, dirname(path))
  return script
}

module.exports = { loadWithCode, compile, packOf }
