/**
 * The error that a tool answered with: the server gives the failure of a tool to the model as its output; null when it
 * succeeded.
 */
export const toolFailure = (output: unknown): { code: string; message: string } | null => {
  if (typeof output !== 'string' || !output.startsWith('{"error":')) return null
  try {
    const { code, message } = JSON.parse(output).error
    return typeof code === 'string' ? { code, message: String(message ?? '') } : null
  } catch {
    return null
  }
}

/** An error as its code and its message. */
export const errorText = (error: unknown) => {
  const { code = 'failed', message = '' }: Readonly<Record<string, unknown>> = Object(error)
  return `${code}: ${message}`
}

/** Whether an event of a log says that something failed. */
export const isFailure = ({ event_type, payload }: { event_type: string; payload: Record<string, unknown> }) =>
  /(failed|expired)$/.test(event_type) ||
  (event_type.endsWith('tool_call.completed') && toolFailure(payload.output) !== null)
