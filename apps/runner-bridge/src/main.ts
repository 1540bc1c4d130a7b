#!/usr/bin/env node
import { runProgram } from "@steps/console";

void runProgram({ name: "runner-bridge", summary: "Drives a Step Runner service from outside", commands: {} }, []);
