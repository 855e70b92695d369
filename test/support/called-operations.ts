import { appendFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { expect } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Records that the running test file got answers of these operations, if this run has a recording. */
export const noteCalled = (operations: readonly string[]): void => {
  const recording = process.env.CALLED_OPERATIONS
  if (recording === undefined || operations.length === 0) return
  const { testPath } = expect.getState()
  if (testPath === undefined) return
  const file = relative(root, testPath)
  appendFileSync(recording, operations.map((operation) => `${file}\t${operation}\n`).join(''))
}

/** Wraps use-cases to record each answered call. A refused call is not recorded, since it does not test its operation. */
export const noted = <T extends object>(useCases: T): T =>
  new Proxy(useCases, {
    get: (target, name) => {
      const useCase: unknown = Reflect.get(target, name)
      if (typeof useCase !== 'function' || typeof name !== 'string') return useCase
      return (...args: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(useCase, target, args)
        Promise.resolve(answer).then(
          () => noteCalled([name]),
          () => {},
        )
        return answer
      }
    },
  })

/** Records the operations that a server has answered successfully so far, from its metrics (GET /metrics). */
export const noteServed = async (url: string): Promise<void> => {
  if (process.env.CALLED_OPERATIONS === undefined) return
  const text = await fetch(`${url}/metrics`)
    .then((answer) => answer.text())
    .catch(() => '')
  const served = [...text.matchAll(/^troupe_http_requests_total\{operation="([^"]+)",status="[123]\d\d"\} [1-9]/gm)]
  noteCalled([...new Set(served.map(([, operation = '']) => operation))])
}
