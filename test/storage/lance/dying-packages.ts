import type { LancePackages } from '#storage/lance/lance-package.ts'

/** Wraps what a function of an object returns; other properties stay as they are. */
const wrapped = <T extends object>(target: T, wrap: (name: string | symbol, call: () => unknown) => unknown): T =>
  new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: readonly unknown[]) => wrap(name, () => Reflect.apply(value, target, given))
    },
  })

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/**
 * LanceDB of a process that is killed after its n-th change of a table: no call of it has an effect after that.
 *
 * @param before called before each change, and before a table is put in order, with the name of the method.
 */
export const dyingPackages = (
  { lance, arrow }: LancePackages,
  changes: number,
  before: (name: string) => Promise<void> = async () => {},
): LancePackages => {
  let left = changes
  const alive = (): void => {
    if (left === 0) throw new Error('killed')
  }
  const change = async (name: string, call: () => unknown): Promise<unknown> => {
    await before(name)
    alive()
    const result = await call()
    left--
    return result
  }
  const merge = (builder: object): object =>
    wrapped(builder, (name, call) => {
      if (name === 'execute') return change(name, call)
      const next = call()
      return isObject(next) ? merge(next) : next
    })
  const table = (opened: object): object =>
    wrapped(opened, (name, call) => {
      if (name === 'add' || name === 'delete') return change(name, call)
      alive()
      // puts a table in order, and may be held
      if (name === 'optimize') return before(name).then(call)
      const result = call()
      return name === 'mergeInsert' && isObject(result) ? merge(result) : result
    })
  const connection = (opened: object): object =>
    wrapped(opened, async (name, call) => {
      const result = await call()
      return (name === 'openTable' || name === 'createEmptyTable') && isObject(result) ? table(result) : result
    })
  const dying = wrapped(lance, (name, call) => {
    const result = call()
    return name === 'connect' && result instanceof Promise ? result.then(connection) : result
  })
  // what is constructed is not called
  return { arrow, lance: { ...lance, connect: dying.connect } }
}
