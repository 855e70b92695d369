import { join } from 'node:path'
import { say } from '#scripts/services/command.ts'
import { installPythonPackages } from '#scripts/services/python-packages.ts'

/**
 * OpenAI's SDK for Python, for PYTHONPATH; null where it cannot be installed: then tests with it are skipped, but never
 * in CI.
 */
export const openAiForPython = (): string | null => {
  try {
    return installPythonPackages('openai-python', join(import.meta.dirname, 'requirements.txt'))
  } catch (error) {
    if (process.env.CI !== undefined) throw error
    say("OpenAI's SDK for Python cannot be installed; its tests are skipped")
    return null
  }
}
