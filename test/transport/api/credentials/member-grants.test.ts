import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { operations } from '#actors/capabilities.ts'
import { roles } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { inConsole } from '#specs/reach/console-paths.ts'
import { authorise } from '#transport/api/credentials/authorise.ts'
import { principals } from '../serving.ts'

const byKeys = Object.values<Operation>(operations).filter(({ access }) => access.kinds.includes('secret_key'))

const may = (operation: Operation, principal: Principal): boolean => {
  try {
    authorise(operation, principal)
    return true
  } catch {
    return false
  }
}

describe('an app', () => {
  it.each(roles)('may do what the member that granted it may, a member with the role %s', (role) => {
    const app = { ...principals.secret_key, grant: { memberId: 'usr_1', role, resource: 'https://troupe.example/mcp' } }
    const member = { ...principals.dashboard, role }
    // an admin may create a key, which may do the rest
    const isOperator = role === 'admin' || role === 'owner'
    const differing = byKeys.filter(
      (operation) => may(operation, app) !== (isOperator || may(inConsole(operation) ?? operation, member)),
    )
    expect(differing.map(({ id }) => id)).toEqual([])
  })
})
