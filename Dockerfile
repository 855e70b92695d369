FROM node:22.23.3-bookworm-slim
# The browser of browser jobs, with fonts for every script. Docker's default seccomp profile forbids the namespaces that Chromium's own
# sandbox needs: the container is its sandbox. With a profile that permits them, set CHROMIUM_SANDBOX=on.
RUN apt-get update \
  && apt-get install -y --no-install-recommends chromium-headless-shell fonts-liberation fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=2 CHROMIUM_SANDBOX=off
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/install ./scripts/install
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force
COPY specs ./specs
COPY src ./src
COPY models ./models
COPY console ./console
COPY docs ./docs
COPY bin ./bin
# what the commands of `troupe --help` need
COPY scripts/doctor.ts scripts/backup.ts scripts/export.ts scripts/import.ts scripts/credits.ts scripts/reset-owner.ts ./scripts/
COPY scripts/stuck.ts scripts/rebuild-rows.ts scripts/quickstart.ts scripts/cluster.ts ./scripts/
COPY scripts/quickstart ./scripts/quickstart
COPY scripts/backup ./scripts/backup
COPY scripts/doctor ./scripts/doctor
COPY scripts/cluster ./scripts/cluster
COPY scripts/keys ./scripts/keys
COPY scripts/store ./scripts/store
COPY scripts/services ./scripts/services
RUN mkdir /data /app/.cache && chown node:node /data /app/.cache && ln -s /app/bin/troupe.js /usr/local/bin/troupe
USER node
# a start reads one file then, also where nothing can be written
RUN node --disable-warning=ExperimentalWarning --max-semi-space-size=8 --no-parallel-scavenge src/start/make-bundle.ts
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself, not npm: it must get SIGTERM to drain.
CMD ["node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=8", "--no-parallel-scavenge", "src/start.js"]
