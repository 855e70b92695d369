/** Whether `work` succeeds within `ms`. Work that fails or takes longer is ignored. Never rejects. */
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
