import { dashboardOnly } from '../access.ts'
import type { Operation } from '../dsl/declare.ts'

const prefix = '/api/console'

/**
 * The operation as members of the dashboard call it in the console: `access.console` names the weakest role, and
 * `/api/console` precedes the path, which itself stays with the secret key. null if members may not.
 */
export const inConsole = (operation: Operation): Operation | null => {
  const { access, paths } = operation
  if (access.console === undefined) return null
  return { ...operation, paths: [`${prefix}${paths[0]}`], access: dashboardOnly(access.console), cors: false }
}

/** All operations that have a path of the console, as members call them. */
export const consolePaths = (operations: Iterable<Operation>): readonly Operation[] =>
  Array.from(operations, inConsole).filter((each) => each !== null)
