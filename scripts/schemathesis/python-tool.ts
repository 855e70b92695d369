import { join } from 'node:path'
import { installPythonPackages } from '../services/python-packages.ts'

/** Schemathesis and all that it needs. @returns the folder, for PYTHONPATH. @throws {Error} as `installPythonPackages` does. */
export const installSchemathesis = (): string =>
  installPythonPackages('schemathesis', join(import.meta.dirname, 'requirements.txt'))
