class X {
  async [Symbol.asyncDispose]() {
    console.log('closed')
  }
}
await using x = new X()
console.log(x)
