export * from 'eventsource-parser/stream'
