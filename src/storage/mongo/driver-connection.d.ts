/** What is used of the driver's connection, which the package does not export. */
declare module 'mongodb/lib/cmap/connection.js' {
  export class Connection {
    readonly socket: import('node:events').EventEmitter
    cleanup(error: Error): void
  }
}
