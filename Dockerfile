# The worker, and every other command: docker run --rm -it rowferry import FILE --job JOB
#
# Run it with --init (docker-compose.yml does): process 1 of a container reaps what others leave behind.
ARG NODE_VERSION=24

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its own install script.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY build ./build
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:${NODE_VERSION}-bookworm-slim
# What a large workbook needs for a while lies on the volume: /tmp may be memory.
ENV NODE_ENV=production \
    ROWFERRY_HOME=/data \
    ROWFERRY_HTTP=0.0.0.0:8720 \
    TMPDIR=/data
WORKDIR /app
# A new named volume takes over the owner of the folder it is mounted on.
RUN mkdir -m 0700 /data && mkdir /inbox && chown node:node /data /inbox
COPY package.json LICENSE ./
COPY jobs ./jobs
COPY fixtures ./fixtures
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# User `node` of the image: 1000:1000.
USER node
VOLUME /data
EXPOSE 8720
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "const port = (process.env.ROWFERRY_HTTP ?? '').split(':').pop() || 8720; fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/bin/rowferry.js"]
CMD ["worker"]
