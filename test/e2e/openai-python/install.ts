import { join } from 'node:path'
import { say } from '#scripts/services/command.ts'
import { installPythonPackages } from '#scripts/services/python-packages.ts'

/**
 * PYTHONPATH of OpenAI's SDK for Python, from the packages that `npm run clients` installs; null if it cannot be installed:
 * then its tests are skipped, but never in CI.
 */
export const openAiForPython = (): string | null => {
  try {
    return installPythonPackages('sdks', join(import.meta.dirname, '../../../scripts/clients/python/sdks.txt'))
  } catch (error) {
    if (process.env.CI !== undefined) throw error
    say("OpenAI's SDK for Python cannot be installed; its tests are skipped")
    return null
  }
}
