import { join } from 'node:path'
import { say } from '#scripts/services/command.ts'
import { installPythonPackages } from '#scripts/services/python-packages.ts'

/** The Python SDK of MCP, for PYTHONPATH; null where it cannot be installed: then tests with it are skipped. */
export const mcpForPython = (): string | null => {
  try {
    return installPythonPackages('mcp-python', join(import.meta.dirname, 'requirements.txt'))
  } catch {
    say('the Python SDK of MCP cannot be installed; its tests are skipped')
    return null
  }
}
