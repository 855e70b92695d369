/** Where the runtime logs: facts first, then a constant message. A pino logger is one, and so is a few lines of one's own. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}
