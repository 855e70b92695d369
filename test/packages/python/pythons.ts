import { join } from 'node:path'
import { installPythonPackages } from '#scripts/services/python-packages.ts'

/** Installs the pinned packages of a file in this folder. @returns the folder for PYTHONPATH; null if they cannot be had. */
export const pythonPackages = (name: string, pins: string): string | null => {
  try {
    return installPythonPackages(name, join(import.meta.dirname, pins))
  } catch (error) {
    console.error(`NOT TESTED: ${name} cannot be installed. ${error}`)
    return null
  }
}
