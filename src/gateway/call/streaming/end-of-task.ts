const resolved = Promise.resolve()

/**
 * Calls back when what runs now has run, before anything else is read from the network. As `queueMicrotask`, which makes
 * an `AsyncResource` for each call.
 */
export const atEndOfTask = (callback: () => void): void => {
  void resolved.then(callback)
}
