#!/bin/sh
# Creates the passwords of MongoDB and Redis that docker-compose.yml reads from files. Existing files are kept.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
made() { [ -s "secrets/$1" ] || printf %s "$2" > "secrets/$1"; }
random() { head -c 24 /dev/urandom | base64 | tr -d '+/=\n'; }
made mongodb_password "$(random)"
made redis_password "$(random)"
made mongodb_url "mongodb://troupe:$(cat secrets/mongodb_password)@mongo:27017/troupe?authSource=admin"
made redis_url "redis://:$(cat secrets/redis_password)@redis:6379"
# the containers read them as different users
chmod 755 secrets && chmod 644 secrets/*
echo "deploy/secrets: mongodb_password mongodb_url redis_password redis_url"
