/** Whether `work` is done in so many ms. What takes longer, or fails, is left alone. Never rejects. */
export const isDoneWithin = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), ms)
  const done = work.then(
    () => true,
    () => false,
  )
  const isDone = await Promise.race([done, late.promise])
  clearTimeout(timer)
  return isDone
}
