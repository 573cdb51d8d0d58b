// Node 20 lacks Promise.withResolvers, the only thing in @platformatic/kafka that it lacks besides zstd. Import this first.
Promise.withResolvers ??= function withResolvers() {
  const made = {}
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}
