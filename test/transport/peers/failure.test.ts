import { expect, it } from 'vitest'
import { Overloaded } from '#runtime/overloaded.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { errorOf, failureOf } from '#transport/peers/failure.ts'

const travelled = (error: unknown) => {
  const failure = failureOf(error)
  return failure === undefined ? undefined : errorOf(JSON.parse(JSON.stringify(failure)))
}

it('is a refusal where there is too much to do: no doubt about what was done, and not asked again at once', () => {
  expect(travelled(new Overloaded('1000 deliveries wait'))).toBeInstanceOf(ServiceError)
  expect(travelled(new Overloaded('1000 deliveries wait'))).toMatchObject({ code: 'overloaded' })
  expect(travelled(new StoreUnavailable('no primary'))).toBeInstanceOf(StoreUnavailable)
  expect(travelled(new TypeError('a bug'))).toBeUndefined()
})
