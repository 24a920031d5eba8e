/** The part of the standard that is used here; Node's types leave it to those of the browser. */
declare const WebAssembly: {
  Module: new (code: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}
