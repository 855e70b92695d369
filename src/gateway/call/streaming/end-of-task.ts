const resolved = Promise.resolve()

/**
 * Runs `callback` as a microtask: after the running code, before more is read from the network. Unlike
 * `queueMicrotask`, it creates no `AsyncResource` per call.
 */
export const atEndOfTask = (callback: () => void): void => {
  void resolved.then(callback)
}
