import { expect, it } from 'vitest'
import { judged } from '#actors/skills/version-use-cases.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/scope.ts'

it('a skill that cannot be scanned now is neither read nor reviewed by a model', async () => {
  let reviews = 0
  const review = {
    findings: async () => {
      reviews += 1
      return []
    },
  }
  const reader = review
  const scanner = { scan: () => Promise.reject(new ServiceError('overloaded')) }
  await expect(judged({ scanner, reader, review }, [], projectScope('prj_1'))).rejects.toMatchObject({
    code: 'overloaded',
  })
  expect(reviews).toBe(0)
})
