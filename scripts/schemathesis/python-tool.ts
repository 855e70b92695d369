import { join } from 'node:path'
import { installPythonPackages } from '../services/python-packages.ts'

/**
 * Installs Schemathesis and its dependencies. @returns the folder, for PYTHONPATH. @throws {Error} as
 * `installPythonPackages`.
 */
export const installSchemathesis = (): string =>
  installPythonPackages('schemathesis', join(import.meta.dirname, 'requirements.txt'))
